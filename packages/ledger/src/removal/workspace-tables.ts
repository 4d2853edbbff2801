/** What has rows of a workspace, in the order in which they go when it is deleted. A test asks the schema whether one is left out. */
export interface WorkspaceTable {
  name: string
  /** Many rows: an index on `workspace_id` and `id` is walked, so that no step reads what the steps before have removed. */
  isWalked?: boolean
  /** The rows of another table that go with each of these, by the column that has its id. */
  child?: { name: string; column: string }
}

export const workspaceTables: readonly WorkspaceTable[] = [
  { name: 'executions', isWalked: true, child: { name: 'key_claims', column: 'execution_id' } },
  { name: 'events', isWalked: true, child: { name: 'event_keys', column: 'event_id' } },
  { name: 'tasks', isWalked: true },
  { name: 'webhook_receipts', isWalked: true },
  { name: 'webhook_rejections', isWalked: true },
  { name: 'audit_entries', isWalked: true },
  { name: 'backtests', isWalked: true },
  { name: 'idempotency_keys' },
  { name: 'webhook_tallies' },
  { name: 'acknowledgements' },
  { name: 'erasures' },
  { name: 'cancellations' },
  { name: 'rule_sets' },
  { name: 'rule_states' },
  { name: 'deleted_rule_versions' },
  { name: 'rule_versions' },
  { name: 'rule_drafts' },
  { name: 'rule_guards' },
  { name: 'rule_silences' },
  { name: 'rule_counters' },
  // With the few rows of rule_crashes.
  { name: 'rules' },
  { name: 'email_templates' },
  { name: 'event_types' },
  { name: 'subscriptions' },
  { name: 'members' },
  { name: 'invitations' },
  { name: 'embed_sessions' },
  { name: 'api_keys' },
  { name: 'signing_secrets' },
  { name: 'credentials' },
]

/** What goes at once, when the time to undo the deletion is over: from then on nobody enters the workspace. */
export const tablesOfAccess = [
  'members',
  'invitations',
  'embed_sessions',
  'api_keys',
  'signing_secrets',
  'credentials',
  'subscriptions',
] as const
