import { Backtest, type TestedDefinition } from '@automation/backtest'
import type { Site } from './site.js'

interface Row {
  eventId: string
  type: string
  acceptedAt: number
  addressedTo: string | null
  data: unknown
  ruleId: string
  version: number
  definition: TestedDefinition
  hasRun: boolean
  isUnjudged: boolean
}

const atOnce = 2_000

/**
 * Whether a backtest of each version names exactly the events that have an execution, among those for which it was considered: the version is
 * that of the rule's last state at the event's `rulesVersion`.
 */
export async function checkBacktests({
  query,
  workspaces,
}: Pick<Site, 'query' | 'workspaces'>): Promise<string[]> {
  const ids = workspaces.map(({ id }) => `'${id}'`).join(', ')
  const tests = new Map<string, Backtest>()
  const violations: string[] = []
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const events = await query<{ id: string }>(`
      SELECT id FROM events WHERE workspace_id IN (${ids}) AND id > '${after}' ORDER BY id LIMIT ${atOnce}`)
    const last = events.at(-1)
    if (last === undefined) return violations
    for (const row of await query<Row>(consideredSql(ids, after, last.id))) {
      const key = `${row.ruleId} ${row.version}`
      const subject = { ruleId: row.ruleId, draft: row.definition, from: 0, to: 8_000_000_000_000 }
      const backtest = tests.get(key) ?? new Backtest(subject)
      tests.set(key, backtest)
      const draft = backtest.add({ ...row, id: row.eventId })?.draft
      if (row.isUnjudged ? draft === 'matched' : (draft === 'matched') !== row.hasRun)
        violations.push(
          `backtest of ${key}: ${draft} for ${row.eventId}, which ${row.hasRun ? 'ran' : 'did not run'}`,
        )
    }
    after = last.id
  }
}

/** Events and the rules that were considered for them, where it is known in which version: another one came in no other way. */
function consideredSql(workspaceIds: string, after: string, last: string): string {
  return `
    SELECT events.id AS "eventId", events.type, round(date_part('epoch', accepted_at) * 1000)::float8 AS "acceptedAt",
           events.rule_id AS "addressedTo", events.data, considered.rule_id AS "ruleId", state.version,
           json_build_object('trigger', versions.trigger, 'conditions', versions.conditions, 'actions', versions.actions)
             AS definition,
           executions.id IS NOT NULL AS "hasRun",
           coalesce(executions.status = 'failed' AND executions.results::text = '[]', false) AS "isUnjudged"
    FROM events
    LEFT JOIN rule_sets ON rule_sets.workspace_id = events.workspace_id AND rule_sets.id = rule_set_id
    CROSS JOIN LATERAL unnest(coalesce(rule_sets.rule_ids, ARRAY[events.rule_id])) AS considered (rule_id)
    JOIN LATERAL (
      SELECT version FROM rule_states
      WHERE rule_states.workspace_id = events.workspace_id AND rule_states.rule_id = considered.rule_id
        AND rule_states.rules_version <= events.rules_version
      ORDER BY rule_states.rules_version DESC LIMIT 1
    ) AS state ON true
    JOIN (
      SELECT rule_id, version, trigger, conditions, actions FROM rule_versions
      UNION ALL SELECT rule_id, version, trigger, conditions, actions FROM deleted_rule_versions
    ) AS versions ON versions.rule_id = considered.rule_id AND versions.version = state.version
    LEFT JOIN executions ON executions.workspace_id = events.workspace_id AND executions.event_id = events.id
      AND executions.rule_id = considered.rule_id
    WHERE events.workspace_id IN (${workspaceIds}) AND events.id > '${after}' AND events.id <= '${last}'
      AND done_at IS NOT NULL AND NOT quarantined AND events.subscription_id IS NULL
      AND events.rule_set_id IS NOT NULL AND events.rules_version IS NOT NULL
    ORDER BY events.id`
}
