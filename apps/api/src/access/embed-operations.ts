import type { EmbedPage } from '@automation/access'

/** How a session of one rule is kept to it, in one operation. */
export type Reach =
  /** `id` in the path is the rule. */
  | 'rule'
  /** As `rule`; and its draft has the trigger of the rule, or none is there. */
  | 'draft'
  /** The query gets `ruleId`. */
  | 'ruleId'
  /** The query gets `eventType`, which is the trigger of the rule; a `ruleId` is the rule. */
  | 'eventType'
  /** The body gets `type`, which is the trigger of the rule. */
  | 'typeInBody'
  /** `name` in the path is the trigger of the rule. */
  | 'typeInPath'
  /** `id` in the path is of a row that belongs to the rule. */
  | 'execution'
  | 'task'
  | 'backtest'
  /** `id` in the path is of an event of its trigger, and no other rule's. */
  | 'event'
  /** As `event`; and the query gets `ruleId`. */
  | 'explained'
  /** As `event`; and the body gets `rules`, which is the rule. */
  | 'replay'
  /** The body is a definition that names no other event types than the rule. */
  | 'definition'
  /** `ruleId` in the body is the rule; and its `definition` as above. */
  | 'tested'
  /** It shows nothing of rules and events. */
  | 'nothing'

/** What it changes or starts, of which `allow` has to include everything that is there already. */
export type Target = 'rule' | 'draft' | 'execution' | 'replay' | 'event'

export interface EmbedOperation {
  /** Any of these pages includes it. */
  pages: readonly EmbedPage[]
  /** Without it, a session of one rule may not call it. */
  reach?: Reach
  target?: Target
  /** It changes what runs. */
  publishes?: true
  /** It also runs what is switched off, which may be the draft of a session without `publish`. */
  runsInactive?: true
}

const all: readonly EmbedPage[] = ['rules', 'executions', 'events', 'decisions', 'tasks']
const rules: readonly EmbedPage[] = ['rules']
const executions: readonly EmbedPage[] = ['executions']
const events: readonly EmbedPage[] = ['events']
const publishing = { pages: rules, reach: 'rule', target: 'rule', publishes: true } as const

/**
 * Every operation that an embed session may call, by its `operationId`. **What is not here is 403 for each session**: members, keys, secrets,
 * credentials, subscriptions, receipts, the audit log, workspaces, embed sessions, imports, exports, bulk work, and what changes things that
 * rules share (event types, email templates).
 */
export const embedOperations: Readonly<Record<string, EmbedOperation>> = {
  getMe: { pages: all, reach: 'nothing' },
  getVocabulary: { pages: all, reach: 'nothing' },

  listRules: { pages: rules },
  listRuleSummaries: { pages: rules },
  listRulesNeedingAttention: { pages: rules },
  getRuleHealth: { pages: rules },
  getRulesOverview: { pages: rules },
  listRollouts: { pages: rules, reach: 'ruleId' },
  getRule: { pages: rules, reach: 'rule' },
  listRuleVersions: { pages: rules, reach: 'rule' },
  getRuleVersion: { pages: rules, reach: 'rule' },
  getRuleSchedule: { pages: rules, reach: 'rule' },
  getRuleGuard: { pages: rules, reach: 'rule' },
  getRuleGroup: { pages: rules },
  createRule: { pages: rules },
  cloneRule: { pages: rules },
  updateRule: publishing,
  patchRule: publishing,
  deleteRule: publishing,
  toggleRule: publishing,
  activateRule: publishing,
  deactivateRule: publishing,
  restoreRuleVersion: publishing,
  promoteRuleDraft: publishing,
  endRuleGuard: publishing,
  reorderRuleGroup: { pages: rules, publishes: true },
  saveRuleDraft: { pages: rules, reach: 'rule', target: 'draft' },
  deleteRuleDraft: { pages: rules, reach: 'rule', target: 'draft' },
  getRuleDraft: { pages: rules, reach: 'draft' },
  getRuleDifference: { pages: rules, reach: 'rule' },

  validateRule: { pages: rules, reach: 'definition' },
  checkRules: { pages: rules },
  executeRule: { pages: rules, reach: 'rule', target: 'rule', runsInactive: true },
  createBacktest: { pages: rules, reach: 'tested' },
  listBacktests: { pages: rules },
  getBacktest: { pages: rules, reach: 'backtest' },
  cancelBacktest: { pages: rules, reach: 'backtest' },
  listSampleEvents: { pages: ['rules', 'events'], reach: 'eventType' },
  surveyEventType: { pages: rules, reach: 'typeInPath' },
  listEventTypes: { pages: ['rules', 'events'] },
  listEmailTemplates: { pages: rules },
  getEmailTemplate: { pages: rules },
  previewEmailTemplate: { pages: rules },

  listEvents: { pages: events, reach: 'eventType' },
  searchEvents: { pages: events, reach: 'typeInBody' },
  getNewestEvents: { pages: events },
  getEvent: { pages: events, reach: 'event' },
  explainEvent: { pages: events, reach: 'explained' },
  replayEvent: { pages: events, reach: 'replay', target: 'replay', runsInactive: true },
  postEvent: { pages: events, target: 'event' },
  triggerEvent: { pages: events, target: 'event' },

  getOverview: { pages: ['executions', 'events'] },
  listExecutions: { pages: executions, reach: 'ruleId' },
  getExecution: { pages: executions, reach: 'execution' },
  retryExecution: { pages: executions, reach: 'execution', target: 'execution', runsInactive: true },
  cancelExecution: { pages: executions, reach: 'execution', target: 'execution' },
  acknowledgeFailures: { pages: executions, reach: 'execution' },
  unacknowledgeFailures: { pages: executions, reach: 'execution' },

  listDecisions: { pages: ['decisions'], reach: 'ruleId' },
  makeDecision: { pages: ['decisions'], reach: 'execution' },
  listTasks: { pages: ['tasks'], reach: 'ruleId' },
  getTask: { pages: ['tasks'], reach: 'task' },
}
