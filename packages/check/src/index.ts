export { type CheckOptions, checkRules } from './check-rules.js'
export {
  type CheckedRule,
  CheckResult,
  type Code,
  codes,
  Finding,
  NotKnown,
  RuleReference,
  type Severity,
  severities,
  Witness,
} from './finding.js'
export type { FindObserved, ObservedField, ObservedFields, ObservedKind } from './observed.js'
