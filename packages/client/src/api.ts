// Written by packages/client/src/generator from docs/openapi.json, which follows from the API's routes: do not edit it.

export type Condition =
  | {
      all: Condition[]
    }
  | {
      any: Condition[]
    }
  | {
      not: Condition
    }
  | {
      field: string
      operator: 'equals' | 'eq' | 'not_equals' | 'neq' | 'contains' | 'not_contains'
      value: string | number | boolean | null
    }
  | {
      field: string
      operator:
        | 'greater_than'
        | 'gt'
        | 'greater_than_or_equal'
        | 'gte'
        | 'less_than'
        | 'lt'
        | 'less_than_or_equal'
        | 'lte'
      value: number
    }
  | {
      field: string
      operator: 'between' | 'not_between'
      /** [low, high], inclusive */
      value: [number, number]
    }
  | {
      field: string
      operator: 'in' | 'not_in' | 'contains_any' | 'contains_all'
      value: (string | number | boolean | null)[]
    }
  | {
      field: string
      operator: 'starts_with' | 'ends_with'
      value: string
    }
  | {
      field: string
      operator: 'matches' | 'not_matches'
      /** RE2 syntax */
      value: string
    }
  | {
      field: string
      operator: 'exists' | 'not_exists' | 'is_empty' | 'is_not_empty' | 'is_true' | 'is_false'
      value?: never
    }
  | {
      field: string
      operator: 'before' | 'after'
      /** ISO 8601, a time with its zone */
      value: string
    }
  | {
      field: string
      operator: 'within_last' | 'within_next'
      /** Integer with s, m, h, d or w */
      value: string
    }

export interface ConditionTrace {
  field?: string
  operator?: string
  expected?: unknown
  actual?: unknown
  group?: 'all' | 'any' | 'not'
  children?: ConditionTrace[]
  verdict: boolean
}

export type EventType =
  | 'LEAD_CREATED'
  | 'LEAD_UPDATED'
  | 'LEAD_DELETED'
  | 'LEAD_ASSIGNED'
  | 'LEAD_STATUS_CHANGED'
  | 'LEAD_SCORE_CHANGED'
  | 'LEAD_SCORE_THRESHOLD'
  | 'LEAD_CONVERTED'
  | 'CONTACT_CREATED'
  | 'CONTACT_UPDATED'
  | 'DEAL_CREATED'
  | 'DEAL_STAGE_CHANGED'
  | 'DEAL_WON'
  | 'DEAL_LOST'
  | 'TASK_CREATED'
  | 'TASK_COMPLETED'
  | 'TASK_OVERDUE'
  | 'FORM_SUBMITTED'
  | 'EMAIL_OPENED'
  | 'EMAIL_CLICKED'
  | 'EMAIL_BOUNCED'
  | 'EMAIL_REPLIED'
  | 'APPOINTMENT_BOOKED'
  | 'APPOINTMENT_CANCELLED'
  | 'TAG_ADDED'
  | 'TAG_REMOVED'
  | 'WEBHOOK_RECEIVED'

export interface RetryPolicy {
  /** in all, the first one included */
  attempts: number
  /** exponential where omitted */
  backoff?: 'constant' | 'linear' | 'exponential'
  /** before the second attempt; 1000 where omitted */
  delayMs?: number
  /** an hour where omitted */
  maxDelayMs?: number
}

export interface CreateTaskAction {
  type: 'CREATE_TASK'
  config: {
    title: string
    /** From the run on: integer with s, m, h, d or w */
    dueIn?: string
    description?: string
    assigneeId?: string
    priority?: 'low' | 'normal' | 'high' | 'urgent'
  }
  when?: Condition
  continueOnError?: boolean
  timeoutMs?: number
  retry?: RetryPolicy
  /** What to do when a worker died during the call, so that nobody knows whether it was made: repeat it under the same key (retry, where omitted), or stop and mark it `unknown` */
  onUncertain?: 'retry' | 'stop'
}

export interface SendEmailAction {
  type: 'SEND_EMAIL'
  config: {
    /** One address */
    to: string
    subject: string
    /** Name of the mail template */
    template: string
    /** One address */
    cc?: string
    /** One address */
    bcc?: string
    /** One address */
    replyTo?: string
    /** What the mail template may use */
    variables?: Record<string, unknown>
  }
  when?: Condition
  continueOnError?: boolean
  timeoutMs?: number
  retry?: RetryPolicy
  /** What to do when a worker died during the call, so that nobody knows whether it was made: repeat it under the same key (retry, where omitted), or stop and mark it `unknown` */
  onUncertain?: 'retry' | 'stop'
}

export interface SendWebhookAction {
  type: 'SEND_WEBHOOK'
  config: {
    /** http or https */
    url: string
    /** POST where omitted */
    method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE'
    /** None of those that frame, route or sign the request */
    headers?: Record<string, string>
    /** Any JSON; strings in it may hold placeholders */
    body?: unknown
    timeoutMs?: number
  }
  when?: Condition
  continueOnError?: boolean
  timeoutMs?: number
  retry?: RetryPolicy
  /** What to do when a worker died during the call, so that nobody knows whether it was made: repeat it under the same key (retry, where omitted), or stop and mark it `unknown` */
  onUncertain?: 'retry' | 'stop'
}

export interface SendNotificationAction {
  type: 'SEND_NOTIFICATION'
  config: {
    /** Incoming webhook of a Slack-compatible chat */
    url: string
    text: string
  }
  when?: Condition
  continueOnError?: boolean
  timeoutMs?: number
  retry?: RetryPolicy
  /** What to do when a worker died during the call, so that nobody knows whether it was made: repeat it under the same key (retry, where omitted), or stop and mark it `unknown` */
  onUncertain?: 'retry' | 'stop'
}

export interface WaitAction {
  type: 'WAIT'
  config: {
    /** Before the next action: integer with s, m, h, d or w, at most 366 days */
    duration: string
  }
  when?: Condition
  continueOnError?: boolean
  timeoutMs?: number
  retry?: RetryPolicy
  /** What to do when a worker died during the call, so that nobody knows whether it was made: repeat it under the same key (retry, where omitted), or stop and mark it `unknown` */
  onUncertain?: 'retry' | 'stop'
}

export interface EmitEventAction {
  type: 'EMIT_EVENT'
  config: {
    eventType: EventType
    /** The event's data; where omitted, that of the event that is run */
    data?: Record<string, unknown> | string
  }
  when?: Condition
  continueOnError?: boolean
  timeoutMs?: number
  retry?: RetryPolicy
  /** What to do when a worker died during the call, so that nobody knows whether it was made: repeat it under the same key (retry, where omitted), or stop and mark it `unknown` */
  onUncertain?: 'retry' | 'stop'
}

export type Action =
  | CreateTaskAction
  | SendEmailAction
  | SendWebhookAction
  | SendNotificationAction
  | WaitAction
  | EmitEventAction

export interface Rule {
  id: string
  name: string
  description: string
  trigger: EventType
  conditions: Condition[]
  actions: Action[]
  isActive: boolean
  workspaceId: string
  /** Counts the changes of the definition; also the ETag. */
  version: number
  /** successCount + failureCount */
  executionCount: number
  successCount: number
  failureCount: number
  /** ISO 8601 with milliseconds */
  lastSuccessAt: string | null
  /** ISO 8601 with milliseconds */
  lastFailureAt: string | null
  lastError: string | null
  /** ISO 8601 with milliseconds */
  createdAt: string
  /** ISO 8601 with milliseconds */
  updatedAt: string
}

export interface RulePage {
  rules: Rule[]
  /** null on the last page */
  nextCursor?: string | null
}

export interface RuleToCreate {
  name: string
  description?: string
  /** One of the event types: LEAD_CREATED, LEAD_UPDATED, LEAD_DELETED, LEAD_ASSIGNED, LEAD_STATUS_CHANGED, LEAD_SCORE_CHANGED, LEAD_SCORE_THRESHOLD, LEAD_CONVERTED, CONTACT_CREATED, CONTACT_UPDATED, DEAL_CREATED, DEAL_STAGE_CHANGED, DEAL_WON, DEAL_LOST, TASK_CREATED, TASK_COMPLETED, TASK_OVERDUE, FORM_SUBMITTED, EMAIL_OPENED, EMAIL_CLICKED, EMAIL_BOUNCED, EMAIL_REPLIED, APPOINTMENT_BOOKED, APPOINTMENT_CANCELLED, TAG_ADDED, TAG_REMOVED, WEBHOOK_RECEIVED */
  trigger: EventType
  conditions?: Condition[]
  actions: Action[]
  isActive?: boolean
}

export interface RuleToUpdate {
  name?: string
  description?: string
  /** One of the event types: LEAD_CREATED, LEAD_UPDATED, LEAD_DELETED, LEAD_ASSIGNED, LEAD_STATUS_CHANGED, LEAD_SCORE_CHANGED, LEAD_SCORE_THRESHOLD, LEAD_CONVERTED, CONTACT_CREATED, CONTACT_UPDATED, DEAL_CREATED, DEAL_STAGE_CHANGED, DEAL_WON, DEAL_LOST, TASK_CREATED, TASK_COMPLETED, TASK_OVERDUE, FORM_SUBMITTED, EMAIL_OPENED, EMAIL_CLICKED, EMAIL_BOUNCED, EMAIL_REPLIED, APPOINTMENT_BOOKED, APPOINTMENT_CANCELLED, TAG_ADDED, TAG_REMOVED, WEBHOOK_RECEIVED */
  trigger?: EventType
  conditions?: Condition[]
  actions?: Action[]
  isActive?: boolean
}

export interface RuleActivity {
  id: string
  isActive: boolean
}

export interface RuleVersion {
  /** Counts the changes of the definition; also the ETag. */
  version: number
  name: string
  description: string
  trigger: EventType
  conditions: Condition[]
  actions: Action[]
  /** ISO 8601 with milliseconds */
  createdAt: string
  /** Who made it, as the audit log tells it */
  createdBy: string
}

export interface RuleVersionPage {
  versions: RuleVersion[]
  /** null on the last page */
  nextCursor?: string | null
}

export interface RuleHealth {
  totalRules: number
  activeRules: number
  inactiveRules: number
  totalExecutions: number
  successfulExecutions: number
  failedExecutions: number
  /** Percentage with two decimals; 0 without executions. */
  averageSuccessRate: number
  rulesNeedingAttention: number
}

export interface AttentionItem {
  id: string
  name: string
  failureCount: number
  lastError: string
  /** ISO 8601 with milliseconds */
  lastFailureAt: string
  /** failures: it fails often or just now. unknown_outcome: nobody knows whether a call was made. event_loop: events that cause events came to their limit. auto_paused: it was switched off for its failures. */
  reason: 'failures' | 'unknown_outcome' | 'event_loop' | 'auto_paused'
  /** ISO 8601 with milliseconds */
  since: string
}

export interface AttentionList {
  rules: AttentionItem[]
}

/** Accepted and still under way; `Location` tells the outcome. */
export interface Accepted {
  id: string
  status: 'accepted'
}

export interface Attempt {
  startedAt: string
  /** Absent while it is under way, or where nobody knows how it ended */
  finishedAt?: string
  error?: string
  output?: unknown
}

export interface ActionResult {
  /** Type of the action */
  action: string
  /** scheduled: a WAIT that has not ended. running: a call is under way. retrying: the next attempt is due at `until`. pending: not begun. unknown: a worker died during the call, and `onUncertain` is stop. */
  status:
    | 'success'
    | 'failed'
    | 'skipped'
    | 'simulated'
    | 'scheduled'
    | 'running'
    | 'retrying'
    | 'pending'
    | 'unknown'
  /** Why it failed */
  error?: string
  /** Why it was skipped */
  reason?: string
  /** The rendered config, in a dry run */
  config?: unknown
  output?: unknown
  warnings?: string[]
  /** The calls that were made, the last 20 at most */
  attempts?: Attempt[]
  /** How many attempts have failed since it was begun, or retried by hand */
  failures?: number
  /** The end of a WAIT, or the time of the next attempt */
  until?: string
}

export interface Trace {
  conditionsPassed: boolean
  conditions: ConditionTrace[]
  actions: {
    index: number
    type: string
    when?: ConditionTrace
  }[]
}

export interface ExecutionResult {
  /** false when any action failed. */
  success: boolean
  conditionsPassed: boolean
  actionsExecuted: number
  dryRun: boolean
  results: ActionResult[]
  trace?: Trace
}

export interface RuleResult {
  ruleId: string
  /** false when any action failed, or the run was cancelled */
  success: boolean
  /** running: under way. waiting: until a WAIT ends. retrying: until the next attempt of an action. cancelled: the rule was switched off or deleted meanwhile. not_matched: the conditions did not pass, so it is no execution. */
  status: 'running' | 'waiting' | 'retrying' | 'succeeded' | 'failed' | 'cancelled' | 'not_matched'
  conditionsPassed: boolean
  /** null where the conditions did not pass: such a run is no execution. */
  executionId: string | null
  /** Present when success is false. */
  error?: string
}

export interface TriggerResult {
  /** Number of rules run, which is the number of results. */
  triggered: number
  results: RuleResult[]
}

export interface BatchEvent {
  /** The event data: any JSON object. */
  data: Record<string, unknown>
  /** as the header of a single event: this one is accepted once, however often it is sent */
  idempotencyKey?: string
}

export interface BatchResult {
  /** accepted: it will run. refused: it has the faults in `errors`. failed: nobody knows whether it was accepted; send it again. */
  status: 'accepted' | 'refused' | 'failed'
  id?: string
  /** true where its key was known: `id` is the first one’s. */
  replayed?: boolean
  errors?: {
    field: string
    message: string
  }[]
  error?: string
}

export interface BatchAnswer {
  /** How many of the results are. */
  accepted: number
  /** One for each event, in their order. */
  results: BatchResult[]
}

export interface EventSummary {
  id: string
  workspaceId: string
  type: string
  /** set where one rule was executed by hand, or one subscription is told */
  ruleId: string | null
  /** how many EMIT_EVENT lie between it and an event from outside */
  depth: number
  /** the execution whose EMIT_EVENT made it */
  causedBy: string | null
  /** the event that it repeats */
  replayOf: string | null
  /** accepted: no worker has taken it up. running: a run of it is under way or waits. done: all of its runs are finished. quarantined: given up, since three workers ended while they ran it; it can be replayed. */
  status: 'accepted' | 'running' | 'done' | 'quarantined'
  /** how many workers are known to have ended while they ran it */
  crashes: number
  /** ISO 8601 with milliseconds */
  acceptedAt: string
  /** when it was taken up and its runs were recorded */
  doneAt: string | null
  /** Number of rules run, which is the number of results. */
  triggered: number
}

export interface EventPage {
  events: EventSummary[]
  /** null on the last page */
  nextCursor?: string | null
}

export interface Event {
  id: string
  workspaceId: string
  type: string
  /** set where one rule was executed by hand, or one subscription is told */
  ruleId: string | null
  /** how many EMIT_EVENT lie between it and an event from outside */
  depth: number
  /** the execution whose EMIT_EVENT made it */
  causedBy: string | null
  /** the event that it repeats */
  replayOf: string | null
  /** accepted: no worker has taken it up. running: a run of it is under way or waits. done: all of its runs are finished. quarantined: given up, since three workers ended while they ran it; it can be replayed. */
  status: 'accepted' | 'running' | 'done' | 'quarantined'
  /** how many workers are known to have ended while they ran it */
  crashes: number
  /** ISO 8601 with milliseconds */
  acceptedAt: string
  /** when it was taken up and its runs were recorded */
  doneAt: string | null
  /** Number of rules run, which is the number of results. */
  triggered: number
  data: Record<string, unknown>
  results: RuleResult[]
}

export interface EventFilter {
  type?: string
  /** that this rule was considered for, or this subscription told */
  ruleId?: string
  /** then or later: ISO 8601, a date or a time with a zone */
  from?: string
  /** before: ISO 8601, a date or a time with a zone */
  to?: string
}

export interface EventsToReplay {
  filter: EventFilter
  /** nextCursor of the call before */
  cursor?: string
  /** true where omitted: tells how many there are */
  dryRun?: boolean
}

/** A dry run: nothing has happened. */
export interface Matched {
  /** how many there are, beyond what one call does, too; counted up to 100000 */
  matched: number
  /** true where there are more than `matched`; absent otherwise */
  atLeast?: boolean
}

/** Accepted: they run by and by. */
export interface EventsReplayed {
  /** how many there are, beyond what one call does, too; counted up to 100000 */
  matched: number
  /** true where there are more than `matched`; absent otherwise */
  atLeast?: boolean
  replayed: number
  /** null on the last page */
  nextCursor?: string | null
}

export interface ExecutionSummary {
  id: string
  workspaceId: string
  eventId: string
  eventType: string
  ruleId: string
  ruleVersion: number | null
  /** pending: accepted, not yet begun. running: a worker has it. waiting: until a WAIT ends. retrying: until the next attempt of an action, or since it was retried. not_matched: executed by hand, and its conditions did not pass. cancelled: the rule was switched off or deleted meanwhile. */
  status:
    | 'pending'
    | 'running'
    | 'waiting'
    | 'retrying'
    | 'succeeded'
    | 'failed'
    | 'cancelled'
    | 'not_matched'
  /** false when any action failed. */
  success: boolean
  conditionsPassed: boolean
  actionsExecuted: number
  dryRun: boolean
  error: string | null
  /** ISO 8601 with milliseconds */
  startedAt: string | null
  /** when it goes on; null where it is finished, or not begun */
  dueAt: string | null
  /** ISO 8601 with milliseconds */
  finishedAt: string | null
}

export interface ExecutionPage {
  executions: ExecutionSummary[]
  /** null on the last page */
  nextCursor?: string | null
}

export interface Execution {
  id: string
  workspaceId: string
  eventId: string
  eventType: string
  ruleId: string
  ruleVersion: number | null
  /** pending: accepted, not yet begun. running: a worker has it. waiting: until a WAIT ends. retrying: until the next attempt of an action, or since it was retried. not_matched: executed by hand, and its conditions did not pass. cancelled: the rule was switched off or deleted meanwhile. */
  status:
    | 'pending'
    | 'running'
    | 'waiting'
    | 'retrying'
    | 'succeeded'
    | 'failed'
    | 'cancelled'
    | 'not_matched'
  /** false when any action failed. */
  success: boolean
  conditionsPassed: boolean
  actionsExecuted: number
  dryRun: boolean
  error: string | null
  /** ISO 8601 with milliseconds */
  startedAt: string | null
  /** when it goes on; null where it is finished, or not begun */
  dueAt: string | null
  /** ISO 8601 with milliseconds */
  finishedAt: string | null
  results: ActionResult[]
  trace?: Trace | null
}

export interface ExecutionFilter {
  /** of this rule, or to this subscription */
  ruleId?: string
  eventType?: string
  /** then or later: ISO 8601, a date or a time with a zone */
  from?: string
  /** before: ISO 8601, a date or a time with a zone */
  to?: string
  /** text that the error contains */
  error?: string
  /** both where omitted */
  status?: ('failed' | 'cancelled')[]
}

export interface ExecutionsToRetry {
  filter: ExecutionFilter
  /** the definition that it began with (same, where omitted), or the rule as it is now */
  version?: 'same' | 'latest'
  /** true where omitted: tells how many there are */
  dryRun?: boolean
}

/** Opened again: they run by and by, within a minute. */
export interface ExecutionsRetried {
  /** how many there are, beyond what one call does, too; counted up to 100000 */
  matched: number
  /** true where there are more than `matched`; absent otherwise */
  atLeast?: boolean
  retried: number
}

export interface Task {
  id: string
  workspaceId: string
  executionId: string
  /** which action of the rule made it, from 0 */
  actionIndex: number
  ruleId: string
  title: string
  description: string | null
  assigneeId: string | null
  priority: string
  /** ISO 8601 with milliseconds */
  dueAt: string | null
  /** ISO 8601 with milliseconds */
  createdAt: string
}

export interface TaskPage {
  tasks: Task[]
  /** null on the last page */
  nextCursor?: string | null
}

export interface EmailTemplateSummary {
  id: string
  /** as SEND_EMAIL names it */
  name: string
  createdAt: string
  updatedAt: string
}

export interface EmailTemplatePage {
  emailTemplates: EmailTemplateSummary[]
  /** null on the last page */
  nextCursor?: string | null
}

export interface EmailTemplate {
  id: string
  /** as SEND_EMAIL names it */
  name: string
  /** with {{path | filter}} for what the action hands over and the event holds; null for a mail without this part */
  text: string | null
  /** with {{path | filter}} for what the action hands over and the event holds; null for a mail without this part */
  html: string | null
  createdAt: string
  updatedAt: string
}

export interface EmailTemplateToCreate {
  /** as SEND_EMAIL names it */
  name: string
  /** with {{path | filter}} for what the action hands over and the event holds; null for a mail without this part */
  text?: string | null
  /** with {{path | filter}} for what the action hands over and the event holds; null for a mail without this part */
  html?: string | null
}

export interface EmailTemplateToUpdate {
  /** as SEND_EMAIL names it */
  name?: string
  /** with {{path | filter}} for what the action hands over and the event holds; null for a mail without this part */
  text?: string | null
  /** with {{path | filter}} for what the action hands over and the event holds; null for a mail without this part */
  html?: string | null
}

export interface MailToPreview {
  /** of the event */
  data?: Record<string, unknown>
  /** of the action, as they are once they are filled in */
  variables?: Record<string, unknown>
  /** of the action, with its placeholders */
  subject?: string
}

export interface PreviewedMail {
  subject: string | null
  text: string | null
  html: string | null
  warnings: string[]
}

/** Accepted: receipt and events are committed */
export interface Delivered {
  /** of the receipt; on a replay that of the first delivery */
  id: string
  receiptState: 'accepted'
  deduplicated: boolean
}

export interface Finding {
  code: string
  message: string
  /** the secret that is meant */
  secretId?: string
}

export interface Receipt {
  id: string
  provider: string
  /** the signature was right */
  verified: boolean
  receiptState: 'accepted' | 'rejected'
  /** `webhook_received`, and what else it became; of a rejected one nothing */
  eventTypes: string[]
  /** ISO 8601 with milliseconds */
  receivedAt: string
  /** X-Idempotency-Key; null where it was none */
  idempotencyKey: string | null
  /** of an accepted one: the secret that signed it */
  signatureId?: string
  /** of an accepted one, in the order of eventTypes */
  eventIds?: string[]
  /** of a rejected one */
  reason?: string
  /** of a rejected one, for admins alone: what the sender did otherwise */
  findings?: Finding[]
}

export interface ReceiptPage {
  data: Receipt[]
  /** null on the last page */
  nextCursor?: string | null
}

export type Scope = 'receipts:read' | 'rules:read' | 'rules:run' | 'rules:write' | 'admin'

export interface ApiKey {
  id: string
  name: string
  scopes: Scope[]
  state: 'active' | 'expired' | 'revoked'
  createdAt: string
  revokedAt: string | null
  /** to within a minute */
  lastUsedAt: string | null
  expiresAt: string | null
}

export interface ApiKeyList {
  data: ApiKey[]
}

export interface ApiKeyToCreate {
  name: string
  scopes: Scope[]
  /** ISO 8601 date, or time with a zone; without it the key never expires */
  expiresAt?: string
}

export interface NewApiKey {
  id: string
  name: string
  scopes: Scope[]
  state: 'active' | 'expired' | 'revoked'
  createdAt: string
  revokedAt: string | null
  /** to within a minute */
  lastUsedAt: string | null
  expiresAt: string | null
  /** shown this once; only its SHA-256 is kept */
  key: string
}

export interface SigningSecret {
  /** X-Signature-Id of what comes in */
  id: string
  /** incoming: a provider signs what it sends us. outgoing: we sign what we send */
  direction: 'incoming' | 'outgoing'
  /** the provider; of an outgoing one the host that SEND_WEBHOOK calls, or the id of a subscription: small letters, digits, dots, dashes, underscores */
  provider: string
  /** active and retiring ones sign */
  state: 'active' | 'retiring' | 'retired' | 'revoked'
  createdAt: string
  revokedAt: string | null
  /** to within a minute */
  lastUsedAt: string | null
  retiresAt: string | null
}

export interface SigningSecretList {
  data: SigningSecret[]
}

export interface SigningSecretToCreate {
  /** the provider; of an outgoing one the host that SEND_WEBHOOK calls, or the id of a subscription: small letters, digits, dots, dashes, underscores */
  provider: string
  /** incoming: a provider signs what it sends us. outgoing: we sign what we send */
  direction?: 'incoming' | 'outgoing'
}

export interface NewSigningSecret {
  /** X-Signature-Id of what comes in */
  id: string
  /** incoming: a provider signs what it sends us. outgoing: we sign what we send */
  direction: 'incoming' | 'outgoing'
  /** the provider; of an outgoing one the host that SEND_WEBHOOK calls, or the id of a subscription: small letters, digits, dots, dashes, underscores */
  provider: string
  /** active and retiring ones sign */
  state: 'active' | 'retiring' | 'retired' | 'revoked'
  createdAt: string
  revokedAt: string | null
  /** to within a minute */
  lastUsedAt: string | null
  retiresAt: string | null
  /** `whsec_…`, shown this once; it is kept encrypted */
  secret: string
}

export interface Subscription {
  id: string
  /** http or https, without user and password */
  url: string
  description: string
  eventTypes: (
    | 'rule.created'
    | 'rule.updated'
    | 'rule.deleted'
    | 'rule.activated'
    | 'rule.deactivated'
    | 'rule.cloned'
    | 'rule.restored'
    | 'rule.paused'
    | 'execution.failed'
    | 'receipt.rejected'
  )[]
  /** Only an active one is told; switching it off ends what still waits */
  isActive: boolean
  createdAt: string
}

export interface SubscriptionList {
  data: Subscription[]
}

export interface SubscriptionToCreate {
  /** http or https, without user and password */
  url: string
  description?: string
  eventTypes: (
    | 'rule.created'
    | 'rule.updated'
    | 'rule.deleted'
    | 'rule.activated'
    | 'rule.deactivated'
    | 'rule.cloned'
    | 'rule.restored'
    | 'rule.paused'
    | 'execution.failed'
    | 'receipt.rejected'
  )[]
  /** Only an active one is told; switching it off ends what still waits */
  isActive?: boolean
}

export interface SubscriptionToUpdate {
  /** http or https, without user and password */
  url?: string
  description?: string
  eventTypes?: (
    | 'rule.created'
    | 'rule.updated'
    | 'rule.deleted'
    | 'rule.activated'
    | 'rule.deactivated'
    | 'rule.cloned'
    | 'rule.restored'
    | 'rule.paused'
    | 'execution.failed'
    | 'receipt.rejected'
  )[]
  /** Only an active one is told; switching it off ends what still waits */
  isActive?: boolean
}

export interface NewSubscription {
  id: string
  /** http or https, without user and password */
  url: string
  description: string
  eventTypes: (
    | 'rule.created'
    | 'rule.updated'
    | 'rule.deleted'
    | 'rule.activated'
    | 'rule.deactivated'
    | 'rule.cloned'
    | 'rule.restored'
    | 'rule.paused'
    | 'execution.failed'
    | 'receipt.rejected'
  )[]
  /** Only an active one is told; switching it off ends what still waits */
  isActive: boolean
  createdAt: string
  /** `whsec_…`, which signs what is sent to it; shown this once */
  secret: string
}

export interface SubscriptionDelivery {
  id: string
  /** one that may be subscribed to, or `subscription.ping` */
  eventType: string
  /** running: under way. waiting: until a WAIT ends. retrying: until the next attempt of an action. cancelled: the rule was switched off or deleted meanwhile. not_matched: the conditions did not pass, so it is no execution. */
  status: 'running' | 'waiting' | 'retrying' | 'succeeded' | 'failed' | 'cancelled' | 'not_matched'
  /** calls that were begun */
  attempts: number
  /** of the last call; null where nobody answered */
  lastStatusCode: number | null
  /** why it failed, or the last call did */
  error: string | null
  /** also the `timestamp` in its body */
  createdAt: string
  /** of the next attempt */
  dueAt: string | null
}

export interface SubscriptionDeliveryPage {
  data: SubscriptionDelivery[]
  /** null on the last page */
  nextCursor?: string | null
}

/** each may do what the ones before it may */
export type Role = 'viewer' | 'operator' | 'editor' | 'admin'

export interface Member {
  /** the `sub` of the user’s tokens */
  userId: string
  /** each may do what the ones before it may */
  role: Role
  createdAt: string
}

export interface MemberList {
  data: Member[]
}

export interface Workspace {
  id: string
  name: string
  /** says which rate limit the members and keys of the workspace have */
  plan: 'standard' | 'enterprise'
  /** A rule that has failed so many times in a row is switched off; null never does. */
  autoPauseAfter: number | null
  /** Events that are done, and their executions, are removed after so many days; null: after as many as the service is set to. */
  retentionDays: number | null
  createdAt: string
}

export interface WorkspaceList {
  data: Workspace[]
}

export interface WorkspaceToCreate {
  name: string
  /** says which rate limit the members and keys of the workspace have */
  plan?: 'standard' | 'enterprise'
  /** Events that are done, and their executions, are removed after so many days; null: after as many as the service is set to. */
  retentionDays?: number | null
  /** the `sub` of the user’s tokens */
  adminUserId?: string
}

export interface WorkspaceToUpdate {
  name?: string
  /** says which rate limit the members and keys of the workspace have */
  plan?: 'standard' | 'enterprise'
  /** A rule that has failed so many times in a row is switched off; null never does. */
  autoPauseAfter?: number | null
  /** Events that are done, and their executions, are removed after so many days; null: after as many as the service is set to. */
  retentionDays?: number | null
}

export interface AuditEntry {
  id: string
  /** `user:<sub>`, `api_key:<id>` or `cli:<system user>` */
  actor: string
  action:
    | 'workspace.created'
    | 'workspace.updated'
    | 'member.added'
    | 'member.changed'
    | 'member.removed'
    | 'api_key.created'
    | 'api_key.revoked'
    | 'signing_secret.created'
    | 'signing_secret.retired'
    | 'signing_secret.revoked'
    | 'rule.created'
    | 'rule.updated'
    | 'rule.deleted'
    | 'rule.activated'
    | 'rule.deactivated'
    | 'rule.cloned'
    | 'rule.restored'
    | 'rule.paused'
    | 'email_template.created'
    | 'email_template.updated'
    | 'email_template.deleted'
    | 'subscription.created'
    | 'subscription.updated'
    | 'subscription.deleted'
    | 'execution.retried'
    | 'event.replayed'
  /** the id of what was changed */
  subject: string
  details: Record<string, unknown>
  /** ISO 8601 with milliseconds */
  at: string
}

export interface AuditLogPage {
  data: AuditEntry[]
  /** null on the last page */
  nextCursor?: string | null
}

export interface LedgerFault {
  /** receipt_without_event: a webhook was accepted, and an event that it became is not there. quarantined_not_done: an event was given up, and is not done. event_without_cause: an event was emitted by an execution that is not there. execution_without_event: an execution of an event that is not there. execution_too_early: an execution of an event that is not done, or was given up. execution_twice: one rule has two executions for one event. execution_adrift: an execution that is neither finished, nor waiting, nor leased: nobody would take it up. action_left_open: an execution has succeeded, and an action of it has not ended. task_missing: an action made a task that is not there. task_without_execution: a task of an execution that is not there. emitted_event_missing: an action emitted an event that is not there. counter_behind: a rule counts fewer successes or failures than there are. */
  kind:
    | 'receipt_without_event'
    | 'quarantined_not_done'
    | 'event_without_cause'
    | 'execution_without_event'
    | 'execution_too_early'
    | 'execution_twice'
    | 'execution_adrift'
    | 'action_left_open'
    | 'task_missing'
    | 'task_without_execution'
    | 'emitted_event_missing'
    | 'counter_behind'
  /** how often */
  count: number
  /** of ten of them */
  ids: string[]
}

export interface Ledger {
  /** ISO 8601 with milliseconds */
  from: string
  /** ISO 8601 with milliseconds */
  to: string
  /** false where the time did not suffice: `from` is then later than what was asked for, and the `to` to go on with */
  isComplete: boolean
  /** how much there is that must not be; 0 where the books are in balance */
  imbalance: number
  /** one for each kind of what must not be, where there is any */
  faults: LedgerFault[]
  /** deliveries of webhooks that named this workspace */
  receipts: {
    /** accepted + duplicate + rejected */
    received: number
    /** webhooks that have a receipt */
    accepted: number
    /** replays of accepted ones; of the hours (UTC) that begin between `from` and `to` */
    duplicate: number
    /** refused for whatever reason; of the same hours */
    rejected: number
  }
  /** events that were accepted */
  events: {
    /** fromOutside + fromReceipts + replayed + emitted + service = done + waiting */
    accepted: number
    /** posted, or asked for by hand */
    fromOutside: number
    /** what accepted webhooks became */
    fromReceipts: number
    /** posted again from history */
    replayed: number
    /** by EMIT_EVENT */
    emitted: number
    /** told to subscriptions */
    service: number
    /** their runs are recorded */
    done: number
    /** of those that are done: given up, without executions */
    quarantined: number
    /** for a worker */
    waiting: number
    /** of those that wait: for longer than 30 seconds */
    overdue: number
  }
  /** executions of these events */
  executions: {
    /** succeeded + failed + cancelled + waiting + leased */
    begun: number
    /** finished */
    succeeded: number
    /** finished */
    failed: number
    /** finished, and not counted by their rules */
    cancelled: number
    /** for the end of a WAIT, or for the next attempt */
    waiting: number
    /** a worker has them */
    leased: number
    /** of those that are not finished: due for longer than 30 seconds */
    overdue: number
  }
  /** what these executions did */
  effects: {
    /** made */
    tasks: number
    /** emitted */
    emittedEvents: number
    /** mails, webhooks and notifications */
    calls: {
      /** the last attempt did */
      succeeded: number
      /** for good */
      failed: number
      /** a worker died during the call, and it was not to be repeated */
      unknown: number
      /** under way, or waiting for the next attempt */
      open: number
    }
  }
}

export interface Readiness {
  /** ending: it still serves, but wants no more requests */
  status: 'ready' | 'unready' | 'ending'
  postgres: 'ok' | 'away'
  /** away: it serves on, and events wait in Postgres; evicting: maxmemory-policy is not noeviction, so Redis may drop jobs */
  redis: 'ok' | 'away' | 'evicting'
  migrations: 'ok' | 'pending' | 'unknown'
}

/** Every operation of the API: what it takes, and what it answers by status. Refusals are ApiErrors. */
export interface Operations {
  /** Is the process alive? */
  'GET /healthz': {
    answers: {
      200: {
        status: 'ok'
      }
    }
  }

  /** Can it serve? Postgres and migrations; tells of Redis, too */
  'GET /readyz': {
    answers: {
      200: Readiness
    }
  }

  /** List the rules, newest first: all of them, or a page of those that the query names */
  'GET /api/automation-rules': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      /** only rules of this event type */
      trigger?: string
      isActive?: boolean
      /** text that the name or description contains */
      q?: string
    }
    answers: {
      200: RulePage
    }
  }

  /** Create a rule */
  'POST /api/automation-rules': {
    body: RuleToCreate
    answers: {
      201: Rule
    }
  }

  /** Read one rule */
  'GET /api/automation-rules/{id}': {
    path: {
      id: string
    }
    answers: {
      200: Rule
    }
  }

  /** Update a rule: any subset of its fields */
  'PUT /api/automation-rules/{id}': {
    path: {
      id: string
    }
    body: RuleToUpdate
    answers: {
      200: Rule
    }
  }

  /** Delete a rule for good */
  'DELETE /api/automation-rules/{id}': {
    path: {
      id: string
    }
    answers: {
      204: undefined
    }
  }

  /** Switch a rule on or off */
  'PATCH /api/automation-rules/{id}/toggle': {
    path: {
      id: string
    }
    answers: {
      200: RuleActivity
    }
  }

  /** Copy a rule; the copy is inactive */
  'POST /api/automation-rules/{id}/clone': {
    path: {
      id: string
    }
    answers: {
      201: Rule
    }
  }

  /** List the versions of a rule, newest first */
  'GET /api/automation-rules/{id}/versions': {
    path: {
      id: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    answers: {
      200: RuleVersionPage
    }
  }

  /** Read one version of a rule */
  'GET /api/automation-rules/{id}/versions/{version}': {
    path: {
      id: string
      /** its number: 1 is the first */
      version: string
    }
    answers: {
      200: RuleVersion
    }
  }

  /** Make the definition of a version that of the rule again, as a new version */
  'POST /api/automation-rules/{id}/versions/{version}/restore': {
    path: {
      id: string
      /** its number: 1 is the first */
      version: string
    }
    answers: {
      200: Rule
    }
  }

  /** Report the health of all rules */
  'GET /api/automation-rules/health': {
    answers: {
      200: RuleHealth
    }
  }

  /** List the rules that somebody should look at, the latest first: they fail, or worse */
  'GET /api/automation-rules/attention': {
    answers: {
      200: AttentionList
    }
  }

  /** Execute one rule, active or not; as a dry run nothing happens */
  'POST /api/automation-rules/{id}/execute': {
    path: {
      id: string
    }
    query?: {
      /** a dry run adds its trace: each clause and its verdict */
      explain?: boolean
    }
    body: {
      /** The event data: any JSON object. */
      data: Record<string, unknown>
      dryRun?: boolean
    }
    answers: {
      200: ExecutionResult
      202: Accepted
    }
  }

  /** Post an event: runs every active rule of its type */
  'POST /api/automation-rules/trigger/{eventType}': {
    path: {
      eventType: EventType
    }
    body: {
      /** The event data: any JSON object. */
      data: Record<string, unknown>
    }
    answers: {
      200: TriggerResult
      202: Accepted
    }
  }

  /** Post up to 500 events of one type, each with a result of its own */
  'POST /api/automation-rules/trigger/{eventType}/batch': {
    path: {
      eventType: EventType
    }
    body: {
      events: BatchEvent[]
    }
    answers: {
      202: BatchAnswer
    }
  }

  /** List events, newest first */
  'GET /api/events': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      type?: string
      /** that this rule was considered for, or this subscription told */
      ruleId?: string
      /** then or later: ISO 8601, a date or a time with a zone */
      from?: string
      /** before: ISO 8601, a date or a time with a zone */
      to?: string
      /** accepted: no worker has taken it up. running: a run of it is under way or waits. done: all of its runs are finished. quarantined: given up, since three workers ended while they ran it; it can be replayed. */
      status?: 'accepted' | 'running' | 'done' | 'quarantined'
    }
    answers: {
      200: EventPage
    }
  }

  /** Read an event and what came of it */
  'GET /api/events/{id}': {
    path: {
      id: string
    }
    answers: {
      200: Event
    }
  }

  /** Post an event again: its data, and the rules as they are now */
  'POST /api/events/{id}/replay': {
    path: {
      id: string
    }
    answers: {
      200: TriggerResult
      202: Accepted
    }
  }

  /** Post the events that a filter names again, the oldest first, at most 1000 a call */
  'POST /api/events/replay': {
    body: EventsToReplay
    answers: {
      200: Matched
      202: EventsReplayed
    }
  }

  /** List executions, those of the newest event first */
  'GET /api/executions': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      /** of this rule, or to this subscription */
      ruleId?: string
      eventType?: string
      /** then or later: ISO 8601, a date or a time with a zone */
      from?: string
      /** before: ISO 8601, a date or a time with a zone */
      to?: string
      /** text that the error contains */
      error?: string
      eventId?: string
      /** one or several, separated by commas: running, waiting, retrying, succeeded, failed, cancelled */
      status?: string
    }
    answers: {
      200: ExecutionPage
    }
  }

  /** Read an execution: how far it is, and what became of each action */
  'GET /api/executions/{id}': {
    path: {
      id: string
    }
    query?: {
      /** adds its trace: each clause of its rule and its verdict; null where the rule is gone */
      explain?: boolean
    }
    answers: {
      200: Execution
    }
  }

  /** Retry an execution that failed or was cancelled, from the first action that is not done */
  'POST /api/executions/{id}/retry': {
    path: {
      id: string
    }
    body?: {
      /** the definition that it began with (same, where omitted), or the rule as it is now */
      version?: 'same' | 'latest'
    }
    answers: {
      202: Accepted
    }
  }

  /** Retry the executions that a filter names, the oldest first, at most 1000 a call */
  'POST /api/executions/retry': {
    body: ExecutionsToRetry
    answers: {
      200: Matched
      202: ExecutionsRetried
    }
  }

  /** Deliver a signed webhook; a replay of an accepted one changes nothing */
  'POST /api/incoming-webhooks/{provider}/{workspaceId}': {
    path: {
      provider: string
      workspaceId: string
    }
    answers: {
      200: Delivered
      202: Delivered
    }
  }

  /** List the tasks that rules made, newest first */
  'GET /api/tasks': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      ruleId?: string
      executionId?: string
    }
    answers: {
      200: TaskPage
    }
  }

  /** List the email templates, without their texts, newest first */
  'GET /api/email-templates': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      /** text that the name contains */
      q?: string
    }
    answers: {
      200: EmailTemplatePage
    }
  }

  /** Create an email template, for SEND_EMAIL to name */
  'POST /api/email-templates': {
    body: EmailTemplateToCreate
    answers: {
      201: EmailTemplate
    }
  }

  /** Read one email template */
  'GET /api/email-templates/{id}': {
    path: {
      id: string
    }
    answers: {
      200: EmailTemplate
    }
  }

  /** Update an email template: any subset of its fields; the next mail is written with it */
  'PUT /api/email-templates/{id}': {
    path: {
      id: string
    }
    body: EmailTemplateToUpdate
    answers: {
      200: EmailTemplate
    }
  }

  /** Delete an email template: the actions that name it send the built-in mail from then on */
  'DELETE /api/email-templates/{id}': {
    path: {
      id: string
    }
    answers: {
      204: undefined
    }
  }

  /** Show the mail that an email template makes of an event; nothing is sent */
  'POST /api/email-templates/{id}/preview': {
    path: {
      id: string
    }
    body?: MailToPreview
    answers: {
      200: PreviewedMail
    }
  }

  /** List the webhooks that were accepted, or the ones that were refused, newest first */
  'GET /api/developer/v1/webhook-receipts': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      /** the name that stands in the path of its webhooks: small letters, digits, dots, dashes, underscores */
      provider?: string
      state?: 'accepted' | 'rejected'
      /** then or later: ISO 8601, a date or a time with a zone */
      from?: string
      /** before: ISO 8601, a date or a time with a zone */
      to?: string
    }
    answers: {
      200: ReceiptPage
    }
  }

  /** Read one receipt, accepted or rejected */
  'GET /api/developer/v1/webhook-receipts/{id}': {
    path: {
      id: string
    }
    answers: {
      200: Receipt
    }
  }

  /** List the API keys, newest first; those that are expired or revoked too */
  'GET /api/developer/v1/api-keys': {
    answers: {
      200: ApiKeyList
    }
  }

  /** Create an API key; its text is shown this once */
  'POST /api/developer/v1/api-keys': {
    body: ApiKeyToCreate
    answers: {
      201: NewApiKey
    }
  }

  /** Revoke an API key: from the next request on it is none */
  'DELETE /api/developer/v1/api-keys/{id}': {
    path: {
      id: string
    }
    answers: {
      204: undefined
    }
  }

  /** List the signing secrets, newest first; those that are retired or revoked too */
  'GET /api/developer/v1/signing-secrets': {
    query?: {
      /** incoming: a provider signs what it sends us. outgoing: we sign what we send */
      direction?: 'incoming' | 'outgoing'
      /** the name that stands in the path of its webhooks: small letters, digits, dots, dashes, underscores */
      provider?: string
    }
    answers: {
      200: SigningSecretList
    }
  }

  /** Create a signing secret, for a provider or for what we send; its text is shown this once */
  'POST /api/developer/v1/signing-secrets': {
    body: SigningSecretToCreate
    answers: {
      201: NewSigningSecret
    }
  }

  /** Retire a signing secret: it signs for a while longer, until its sender has the next one */
  'POST /api/developer/v1/signing-secrets/{id}/retire': {
    path: {
      id: string
    }
    body?: {
      /** for how long it still signs: an integer with s, m, h, d or w, at most 366 days */
      overlap?: string
    }
    answers: {
      200: SigningSecret
    }
  }

  /** Revoke a signing secret: from the next webhook on it signs nothing */
  'DELETE /api/developer/v1/signing-secrets/{id}': {
    path: {
      id: string
    }
    answers: {
      204: undefined
    }
  }

  /** List the subscriptions: the URLs that are told what happens in the workspace, newest first */
  'GET /api/developer/v1/subscriptions': {
    answers: {
      200: SubscriptionList
    }
  }

  /** Subscribe a URL to events of the service; the secret that signs them is shown this once */
  'POST /api/developer/v1/subscriptions': {
    body: SubscriptionToCreate
    answers: {
      201: NewSubscription
    }
  }

  /** Read a subscription */
  'GET /api/developer/v1/subscriptions/{id}': {
    path: {
      id: string
    }
    answers: {
      200: Subscription
    }
  }

  /** Change a subscription: any subset of its fields */
  'PATCH /api/developer/v1/subscriptions/{id}': {
    path: {
      id: string
    }
    body: SubscriptionToUpdate
    answers: {
      200: Subscription
    }
  }

  /** Delete a subscription: what waits for it is cancelled, and its secrets are revoked */
  'DELETE /api/developer/v1/subscriptions/{id}': {
    path: {
      id: string
    }
    answers: {
      204: undefined
    }
  }

  /** Send a `subscription.ping` to a subscription, to see whether it arrives */
  'POST /api/developer/v1/subscriptions/{id}/test': {
    path: {
      id: string
    }
    answers: {
      202: Accepted
    }
  }

  /** List what was sent to a subscription and what came of it, newest first */
  'GET /api/developer/v1/subscriptions/{id}/deliveries': {
    path: {
      id: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    answers: {
      200: SubscriptionDeliveryPage
    }
  }

  /** List the members of the workspace, oldest first */
  'GET /api/developer/v1/members': {
    answers: {
      200: MemberList
    }
  }

  /** Add a member, or change its role */
  'PUT /api/developer/v1/members/{userId}': {
    path: {
      /** the `sub` of the user’s tokens */
      userId: string
    }
    body: {
      /** each may do what the ones before it may */
      role: Role
    }
    answers: {
      200: Member
      201: Member
    }
  }

  /** Remove a member */
  'DELETE /api/developer/v1/members/{userId}': {
    path: {
      /** the `sub` of the user’s tokens */
      userId: string
    }
    answers: {
      204: undefined
    }
  }

  /** List the workspaces of the user, oldest first; for an API key its own */
  'GET /api/developer/v1/workspaces': {
    answers: {
      200: WorkspaceList
    }
  }

  /** Create a workspace with its first admin, who is the caller unless somebody else is named */
  'POST /api/developer/v1/workspaces': {
    body: WorkspaceToCreate
    answers: {
      201: Workspace
    }
  }

  /** Read the workspace that x-workspace-id names */
  'GET /api/developer/v1/workspaces/{id}': {
    path: {
      id: string
    }
    answers: {
      200: Workspace
    }
  }

  /** Rename the workspace that x-workspace-id names, lower its plan, or say when failing rules are switched off and how long history is kept */
  'PATCH /api/developer/v1/workspaces/{id}': {
    path: {
      id: string
    }
    body: WorkspaceToUpdate
    answers: {
      200: Workspace
    }
  }

  /** List who changed what, newest first */
  'GET /api/developer/v1/audit-log': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      action?:
        | 'workspace.created'
        | 'workspace.updated'
        | 'member.added'
        | 'member.changed'
        | 'member.removed'
        | 'api_key.created'
        | 'api_key.revoked'
        | 'signing_secret.created'
        | 'signing_secret.retired'
        | 'signing_secret.revoked'
        | 'rule.created'
        | 'rule.updated'
        | 'rule.deleted'
        | 'rule.activated'
        | 'rule.deactivated'
        | 'rule.cloned'
        | 'rule.restored'
        | 'rule.paused'
        | 'email_template.created'
        | 'email_template.updated'
        | 'email_template.deleted'
        | 'subscription.created'
        | 'subscription.updated'
        | 'subscription.deleted'
        | 'execution.retried'
        | 'event.replayed'
      actor?: string
      subject?: string
    }
    answers: {
      200: AuditLogPage
    }
  }

  /** Hold the books against one another: receipts, events, executions, effects, counters */
  'GET /api/developer/v1/ledger': {
    query?: {
      /** then or later: ISO 8601, a date or a time with a zone */
      from?: string
      /** before: ISO 8601, a date or a time with a zone */
      to?: string
    }
    answers: {
      200: Ledger
    }
  }
}

/** The operations that are done once, however often they are sent under one Idempotency-Key. */
export const keyedOperations: ReadonlySet<keyof Operations> = new Set([
  'POST /api/automation-rules',
  'POST /api/automation-rules/{id}/clone',
  'POST /api/automation-rules/{id}/execute',
  'POST /api/automation-rules/trigger/{eventType}',
  'POST /api/events/{id}/replay',
] as const)
