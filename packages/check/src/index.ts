export { type CheckOptions, checkRules, compareWithEvents } from './check-rules.js'
export { type Code, codes, type Severity, severities } from './codes.js'
export type { CheckedRule } from './finding.js'
export { CheckResult, Finding, NotKnown, RuleReference, Witness } from './finding-schemas.js'
export type { FindObserved, ObservedFields } from './observed.js'
export { listPhrases, phrases } from './phrases.js'
export {
  type Coverage,
  measureCoverage,
  mutateClauses,
  type Survivor,
  type Uncovered,
} from './tests/coverage.js'
export { findTestFaults } from './tests/find-test-faults.js'
export { writeJunit } from './tests/junit.js'
export { maxTests, RuleTest } from './tests/rule-test.js'
export { runTests, type TestResult } from './tests/run-tests.js'
export { type SimulatedEvent, type Simulation, simulateEvents } from './tests/simulate-events.js'
export { prepareRules } from './tests/simulated-rules.js'
export { describe } from './words.js'
