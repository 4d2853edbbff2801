/** Of results, and of responses that were kept: what comes from events and from those who were called. The rest is ours. */
const resultNames = [
  'captured',
  'config',
  'data',
  'error',
  'key',
  'match',
  'output',
  'reason',
  'to',
  'waited',
  'warnings',
] as const

/**
 * What a column holds of events: a text, JSON that is all theirs, or JSON that has it under these names alone. Other ways: `unique` is a text that no two rows
 * share, and of `removed` the row goes.
 */
export type Held = 'text' | 'json' | 'unique' | 'removed' | readonly string[]

/**
 * Each column of texts or JSON that an erasure changes, by its table. Why the others hold nothing of a person's events stands in `otherColumns`: the
 * two have all columns of the schema (erasure.test.ts).
 */
export const heldColumns = {
  events: { data: 'json', quarantine_reason: 'text' },
  executions: { results: resultNames, error: 'text', decision: ['reason'], suppression: ['key'] },
  tasks: { title: 'text', description: 'text', assignee_id: 'text' },
  idempotency_keys: { answer: resultNames },
  webhook_receipts: { key: 'unique' },
  webhook_rejections: { key: 'text', reason: 'text', findings: ['message'] },
  backtests: { state: ['seen'], report: ['didYouMean'] },
  rule_counters: { last_error: 'text' },
  acknowledgements: { error: 'removed' },
  audit_entries: { details: ['error', 'lastError', 'reason'] },
} as const satisfies Record<string, Record<string, Held>>

export type HeldTable = keyof typeof heldColumns
export type HeldColumns = Readonly<Record<string, Held>>

/** Of the data of a delivery to a subscription, which has ids and times as well. */
export const deliveredColumns: HeldColumns = { data: ['error', 'key', 'lastError', 'reason'] }

const byMembers =
  'members, keys and rules are made by users of the service, and name none of the events’ persons'
const written = 'users of the service write definitions: a value in their texts is none of an event'
const word = 'a word of ours'
const actor = 'a user of the service'

/** Why an erasure leaves the others as they are. */
export const otherColumns: Record<string, Record<string, string>> = {
  workspaces: {
    name: byMembers,
    embed_origins: byMembers,
    created_by: actor,
    suspended_by: actor,
    deletion_asked_by: actor,
    moving: 'the id of a move',
  },
  members: { user_id: actor, reason: 'why an operator or an admin grants support access' },
  operator_keys: { name: 'named by the operator', created_by: actor, revoked_by: actor },
  restores: { started_by: actor },
  deleted_workspaces: { name: byMembers, asked_by: actor, counts: 'counts' },
  embed_sessions: {
    user_id: 'a user of the host: the row goes within 7 days',
    user_name: 'a user of the host: the row goes within 7 days',
    pages: word,
    allow: 'names of types and credentials',
    locale: word,
    appearance: word,
    created_by: actor,
  },
  invitations: { created_by: actor, accepted_by: actor },
  rules: definition('description labels mode expect_every'),
  rule_drafts: { ...definition('description labels'), saved_by: actor },
  rule_versions: { ...definition('description labels'), created_by: actor, awaits: 'paths and types' },
  deleted_rule_versions: definition(''),
  sweeps: { name: word },
  rule_guards: { trip_reason: word },
  rule_counters: { attention_reason: word },
  api_keys: { name: byMembers, scopes: word },
  signing_secrets: { provider: byMembers, scheme: word, settings: byMembers },
  credentials: { name: byMembers, kind: word, hosts: byMembers },
  webhook_receipts: { provider: byMembers, repeated_by: word, event_types: word },
  webhook_rejections: { provider: 'the name of a provider that the workspace has' },
  acknowledgements: { actor },
  audit_entries: {
    actor,
    action: word,
    subject: 'an id or a name',
  },
  erasures: {
    path: 'a path, never the value',
    status: word,
    position: 'ids',
    erased: 'counts',
    created_by: actor,
  },
  event_types: { name: byMembers, description: byMembers },
  backtests: {
    kind: word,
    pace: word,
    subject: written,
    error: 'a sentence of ours',
    created_by: actor,
  },
  email_templates: { name: byMembers, text: byMembers, html: byMembers },
  subscriptions: { url: byMembers, description: byMembers, event_types: word },
  idempotency_keys: { key: 'a repeat must be recognised, for 24 hours' },
  events: { type: word, outranked: 'places of rules' },
  executions: { event_type: word, wait_type: word },
  key_claims: { place: word },
  cancellations: { reason: 'a sentence of ours' },
  tasks: { priority: word },
}

function definition(more: string): Record<string, string> {
  const names = `name trigger group_name schedule per_key conditions actions ${more}`
  return Object.fromEntries(
    names
      .trim()
      .split(' ')
      .map((name) => [name, written]),
  )
}
