import { ConditionTrace } from './outcome.js'
import { Condition } from './rule.js'

export { taskPriorities } from './actions/create-task.js'
export {
  type ActionConfig,
  type ActionType,
  actionDefinitions,
  type CallType,
  isCallType,
} from './actions/index.js'
export { assume, type Given, givenFields } from './assumed-result.js'
export { boundWork, chargingOperators, type WorkBound } from './bound-work.js'
export { writeChatBody } from './chat-format.js'
export { toNumber } from './comparison.js'
export { type CompiledRule, compileRule } from './compile-rule.js'
export type { CompiledCondition } from './compiled-condition.js'
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
} from './condition-parts.js'
export { listConditionPaths, listRootPaths } from './condition-paths.js'
export { compileCondition, normaliseConditions, normaliseRule } from './conditions.js'
export { type CredentialUse, listConfigUses, listCredentialUses, type PlacedUse } from './config-uses.js'
export { credentialName, wholeCredential } from './credential.js'
export { findCredentialWarnings, type KnownCredential } from './credential-warnings.js'
export { describeListEnd } from './dead-end.js'
export { isLongNumber } from './decimal.js'
export {
  decisionPath,
  decisionType,
  expiredChoice,
  expiredDecision,
  MadeDecision,
  maxReasonLength,
  readDecision,
} from './decision.js'
export type { DecisionLinks, LinksToMake } from './decision-links.js'
export { findDoubtfulForms, findDoubtfulPlaceholders } from './doubtful-forms.js'
export { findDurationFault, parseDuration } from './duration.js'
export { defaultWorkLimits, Evaluation, type WorkLimits } from './evaluation.js'
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
export { excerptOf } from './excerpt.js'
export { type Fault, findRuleFaults } from './faults.js'
export {
  FieldKind,
  FieldSurvey,
  maxSurveyDepth,
  maxSurveyText,
  ObservedField,
  type SurveyState,
} from './field-survey.js'
export { findOutranked, type Grouped, hasGroups, RuleGroup, RuleOrder } from './first-match.js'
export { httpUrl } from './formats.js'
export { findHoursFault, Hours, readHours } from './hours/hours.js'
export { findNextInside, isInside } from './hours/inside.js'
export { type Limit, maxEmissionDepth } from './limits.js'
export {
  compileMailTemplate,
  escapeHtml,
  findMailTemplateFaults,
  type MailTemplate,
  type RenderedMail,
} from './mail-template.js'
export { describeNearest, findSimilar, maxListed } from './nearest.js'
export { findOperator } from './operators/index.js'
export type { Operator, Test } from './operators/operator.js'
export { instantDescription } from './operators/times.js'
export { ActionResult, Attempt, type ConditionTrace, isOpen, type ListTrace, Trace } from './outcome.js'
export { compilePath, isIndex, parsePath, readPath } from './path.js'
export {
  type Batch,
  collectData,
  collectedAlone,
  maxCollectedBytes,
  parseCollection,
  type StoredCollection,
} from './per-key/collect.js'
export { type CompiledPerKey, compilePerKey, showKey } from './per-key/compile-key.js'
export { decide, type KeyState } from './per-key/decide.js'
export { describeSuppression } from './per-key/describe-suppression.js'
export { isBefore, type KeyEvent } from './per-key/key-event.js'
export { maxCounted, maxQueued, PerKey, PerKeyOrNone } from './per-key/per-key.js'
export { findPerKeyFaults } from './per-key/per-key-faults.js'
export { type SavedKeys, SimulatedKeys } from './per-key/simulated-keys.js'
export { KeyPreview, Suppression } from './per-key/suppression.js'
export { capitalize, plainBounds } from './plain-bounds.js'
export { planEvent, type RulePlanInEvent } from './plan-event.js'
export {
  type Effect,
  findError,
  findNextAction,
  settleAction,
  showConfig,
  simulatePlan,
  skippedAfterFailure,
} from './progress.js'
export { type Quantifier, quantifiers } from './quantifiers.js'
export {
  keepDigits,
  type LongNumber,
  listLongFaults,
  listLongWarnings,
  mayHaveLongNumber,
  readJson,
} from './read-json.js'
export { firstMilliseconds, firstSeconds, lastMilliseconds, readTime } from './read-time.js'
export { findRoot, readDeclared, readWaitedPaths } from './recorded.js'
export { findRecordedReads } from './recorded-reads.js'
export { findRetryDelay, Retry } from './retry.js'
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
export { indexRules, type RuleIndex } from './rule-index.js'
export { findRuleWarnings } from './rule-warnings.js'
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
} from './run.js'
export { scanJson } from './scan-json.js'
export { describeClockChange } from './schedule/describe-clock-change.js'
export { findScheduleFaults } from './schedule/find-schedule-faults.js'
export { describeTick, nextTick } from './schedule/next-tick.js'
export { Schedule, scheduleType } from './schedule/schedule.js'
export { compileTemplate, listPlaceholderUses } from './template.js'
export { parseTimestamp } from './timestamp.js'
export { listPaths } from './trace-hints.js'
export { usesPatterns } from './uses-patterns.js'
export { isReference, readReference } from './value-reference.js'
export { describeVocabulary, type Vocabulary } from './vocabulary.js'
export { findWaitEnd } from './wait-end.js'
export {
  type EndingEvent,
  endsWait,
  keepWaited,
  type Match,
  readMatch,
  type WaitFor,
  writeMatch,
} from './wait-for.js'
export { evaluateWhy, explainWhy, NearestChange } from './why.js'
export { unlimitedBudget, type WorkBounds, WorkBudget } from './work-budget.js'

/** The schemas that others reference by `$id`: add each with Fastify's addSchema before any route. */
export const sharedSchemas = [Condition, ConditionTrace]
