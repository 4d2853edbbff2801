export { type CheckOptions, checkRules } from './check-rules.js'
export {
  type CheckedRule,
  type CheckResult,
  type Code,
  codes,
  type Finding,
  type NotKnown,
  type RuleReference,
  type Severity,
  severities,
  type Witness,
} from './finding.js'
export type { FindObserved, ObservedField, ObservedFields, ObservedKind } from './observed.js'
