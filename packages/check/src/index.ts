export { checkRules, compareWithEvents } from './check-rules.js'
export { type Code, codes, type Severity, severities } from './codes.js'
export { CheckResult, Finding, NotKnown, Witness } from './finding-schemas.js'
export type { ObservedFields } from './observed.js'
