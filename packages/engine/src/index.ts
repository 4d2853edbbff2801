import { ConditionTrace } from './results/outcome.js'
import { Condition } from './rule.js'

export { taskPriorities } from './actions/create-task.js'
export {
  type ActionConfig,
  type ActionType,
  actionDefinitions,
  type CallType,
  isCallType,
} from './actions/index.js'
export type { CheckedRule } from './checked-rule.js'
export { boundWork, chargingOperators, type WorkBound } from './conditions/bound-work.js'
export type { CompiledCondition } from './conditions/compiled-condition.js'
export {
  isClause,
  isLeaf,
  isListCondition,
  isTimeCondition,
  itemPartsOf,
  type Leaf,
  listLeaves,
  mapLeaves,
  partsOf,
  readList,
} from './conditions/condition-parts.js'
export { listConditionPaths, listRootPaths } from './conditions/condition-paths.js'
export { compileCondition, normaliseConditions, normaliseRule } from './conditions/conditions.js'
export { describeCondition, shortenDescription } from './conditions/describe-condition.js'
export { sayValue } from './conditions/say-comparison.js'
export {
  type CredentialUse,
  listConfigUses,
  listCredentialUses,
  type PlacedUse,
} from './configs/config-uses.js'
export {
  describeUnknownType,
  EventType,
  eventTypeDefinitions,
  eventTypes,
  isEventType,
  isEventTypeName,
  isReservedType,
  isTrigger,
  reservedTypeDefinitions,
} from './event-types.js'
export { describeChange, nameItem } from './explaining/describe-change.js'
export { listPaths } from './explaining/trace-hints.js'
export { evaluateWhy, explainWhy, NearestChange } from './explaining/why.js'
export type { Fault } from './fault.js'
export { type DefinitionToCheck, pickToCheck } from './faults/definition-to-check.js'
export { findRuleFaults } from './faults/faults.js'
export { findHoursFault, Hours, readHours } from './hours/hours.js'
export { findNextInside, isInside } from './hours/inside.js'
export {
  keepDigits,
  type LongNumber,
  listLongFaults,
  listLongWarnings,
  mayHaveLongNumber,
  readJson,
} from './json/read-json.js'
export { findRepeatedNames, listRepeatedFaults } from './json/repeated-names.js'
export { scanJson } from './json/scan-json.js'
export { type Limit, maxEmissionDepth } from './limits.js'
export { findOperator } from './operators/index.js'
export type { Operator, Test } from './operators/operator.js'
export { listPhrases, phrases } from './operators/phrases.js'
export { type Quantifier, quantifiers } from './operators/quantifiers.js'
export { instantDescription } from './operators/times.js'
export { usesPatterns } from './operators/uses-patterns.js'
export {
  collectData,
  collectedAlone,
  maxCollectedBytes,
  parseCollection,
  type StoredCollection,
} from './per-key/batch-data.js'
export type { Batch } from './per-key/collect.js'
export { type CompiledPerKey, compilePerKey, showKey } from './per-key/compile-key.js'
export { decide, type KeyState } from './per-key/decide.js'
export { describeSuppression } from './per-key/describe-suppression.js'
export { isBefore, type KeyEvent } from './per-key/key-event.js'
export { type ListedBatch, listBatches } from './per-key/list-batches.js'
export { maxCounted, maxQueued, PerKey, PerKeyOrNone } from './per-key/per-key.js'
export { findPerKeyFaults } from './per-key/per-key-faults.js'
export { type SavedKeys, SimulatedKeys } from './per-key/simulated-keys.js'
export { KeyPreview, Suppression } from './per-key/suppression.js'
export { type CompiledRule, compileRule } from './planning/compile-rule.js'
export { findOutranked, type Grouped, hasGroups, RuleGroup, RuleOrder } from './planning/first-match.js'
export { type Branch, listChoices, planBranch } from './planning/plan-branches.js'
export { planEvent, type RulePlanInEvent } from './planning/plan-event.js'
export {
  type Effect,
  findError,
  findNextAction,
  settleAction,
  showConfig,
  simulatePlan,
  skippedAfterFailure,
} from './planning/progress.js'
export { findRecordedReads } from './planning/recorded-reads.js'
export { indexRules, type RuleIndex } from './planning/rule-index.js'
export {
  aloneIn,
  explainRule,
  type FillCredentials,
  isReady,
  type PlannedAction,
  planActions,
  planRule,
  type ReadyAction,
  type RulePlan,
  ruleHolds,
} from './planning/run.js'
export { findWaitEnd } from './planning/wait-end.js'
export {
  type EndingEvent,
  endsWait,
  keepWaited,
  type Match,
  readMatch,
  type WaitFor,
  writeMatch,
} from './planning/wait-for.js'
export { assume, type Given, givenFields } from './results/assumed-result.js'
export {
  decisionType,
  expiredChoice,
  expiredDecision,
  MadeDecision,
  maxReasonLength,
  readDecision,
} from './results/decision.js'
export type { DecisionLinks, LinksToMake } from './results/decision-links.js'
export {
  ActionResult,
  Attempt,
  type ConditionTrace,
  isOpen,
  type ListTrace,
  Trace,
} from './results/outcome.js'
export { findRoot, readDeclared, readWaitedPaths } from './results/recorded.js'
export { findRetryDelay, Retry } from './results/retry.js'
export {
  Action,
  Actions,
  type Clause,
  Condition,
  Conditions,
  countOperators,
  type ListCondition,
  RuleDefinition,
  RuleDescription,
  RuleName,
} from './rule.js'
export { describeClockChange } from './schedule/describe-clock-change.js'
export { findScheduleFaults } from './schedule/find-schedule-faults.js'
export { describeTick, nextTick } from './schedule/next-tick.js'
export { findUnknownZone, Schedule, scheduleType } from './schedule/schedule.js'
export { compileShape } from './shape/compile-shape.js'
export { limitFaults } from './shape/walk.js'
export { writeChatBody } from './templates/chat-format.js'
export { credentialName, wholeCredential } from './templates/credential.js'
export { httpUrl } from './templates/formats.js'
export {
  compileMailTemplate,
  escapeHtml,
  findMailTemplateFaults,
  type MailTemplate,
  type RenderedMail,
} from './templates/mail-template.js'
export { compileTemplate, listPlaceholderUses } from './templates/template.js'
export { type AlmostSame, findAlmostSame, listAlmostSame } from './texts/almost-same.js'
export { capitalize, uncapitalize } from './texts/capitalize.js'
export { cutText } from './texts/cut-text.js'
export { describeNearest, findSimilar, maxListed } from './texts/nearest.js'
export { findDurationFault, parseDuration } from './times/duration.js'
export { formatDuration } from './times/format-duration.js'
export { firstMilliseconds, firstSeconds, lastMilliseconds, readTime } from './times/read-time.js'
export { parseTimestamp } from './times/timestamp.js'
export { isZone } from './times/zone-names.js'
export { toNumber } from './values/comparison.js'
export { describeListEnd } from './values/dead-end.js'
export { isLongNumber } from './values/decimal.js'
export { ErasedValue, erasedMark } from './values/erased-value.js'
export { excerptOf } from './values/excerpt.js'
export {
  FieldKind,
  FieldSurvey,
  maxSurveyDepth,
  maxSurveyText,
  ObservedField,
  type SurveyState,
} from './values/field-survey.js'
export { compilePath, isIndex, parsePath, readPath } from './values/path.js'
export { isReference, readReference } from './values/value-reference.js'
export { describeVocabulary, type Vocabulary } from './vocabulary.js'
export { findCredentialWarnings, type KnownCredential } from './warnings/credential-warnings.js'
export { findDoubtfulForms, findDoubtfulPlaceholders } from './warnings/doubtful-forms.js'
export { findRuleWarnings } from './warnings/rule-warnings.js'
export { defaultWorkLimits, Evaluation, type WorkLimits } from './work/evaluation.js'
export { unlimitedBudget, type WorkBounds, WorkBudget } from './work/work-budget.js'

/** The schemas that others reference by `$id`: add each with Fastify's addSchema before any route. */
export const sharedSchemas = [Condition, ConditionTrace]
