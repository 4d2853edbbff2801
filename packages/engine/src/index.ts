import { ConditionTrace } from './outcome.js'
import { Condition } from './rule.js'

export { type ActionConfig, actionDefinitions } from './actions/index.js'
export { normaliseConditions, normaliseRule } from './conditions.js'
export { parseDuration } from './duration.js'
export { EventType, eventTypeDefinitions, eventTypes, isEventType, isEventTypeName } from './event-types.js'
export { type Fault, findRuleFaults } from './faults.js'
export { FieldKind, FieldSurvey, ObservedField } from './field-survey.js'
export { httpUrl } from './formats.js'
export { defaultWorkLimits, Judging, type WorkLimits } from './judging.js'
export { type Limit, maxEmissionDepth } from './limits.js'
export {
  compileMailTemplate,
  escapeHtml,
  findMailTemplateFaults,
  type MailTemplate,
  type RenderedMail,
} from './mail-template.js'
export { ActionResult, Attempt, type ConditionTrace, Trace } from './outcome.js'
export {
  type Effect,
  findError,
  findNextAction,
  settleAction,
  simulatePlan,
  skippedAfterFailure,
} from './progress.js'
export { findRetryDelay, Retry } from './retry.js'
export {
  Action,
  Actions,
  Condition,
  Conditions,
  maxPlaceholders,
  RuleDefinition,
  RuleDescription,
  RuleName,
} from './rule.js'
export { indexRules, type RuleIndex } from './rule-index.js'
export {
  type CompiledRule,
  compileRule,
  explainRule,
  type Plan,
  planRule,
  type ReadyAction,
  ruleHolds,
} from './run.js'
export { compileTemplate, type Template } from './template.js'
export { parseTimestamp } from './timestamp.js'
export { findNearest } from './trace-hints.js'
export { usesPatterns } from './uses-patterns.js'
export { describeVocabulary, type Vocabulary } from './vocabulary.js'
export { Change, explainWhy, judgeWhy, type Why } from './why.js'
export { workLimitsOf, workSettings } from './work-settings.js'

/** The schemas that others reference by `$id`: add each with Fastify's addSchema before any route. */
export const sharedSchemas = [Condition, ConditionTrace]
