import type { Database } from '@automation/database'

/** A rule is paused when this many workers have ended while they ran it alone. */
const maxCrashes = 2
/** To compile and evaluate one rule, and to note the next, takes less even where Postgres is slow. A worker that ended is noticed before that. */
const longestRunSeconds = 15

/** $1 rule · $2 event. An event that has ended a worker with one rule is suspected itself from then on: no other rule is noted for it. */
const noteRuleSql = `
  WITH passed_rules AS (
    DELETE FROM rule_crashes WHERE event_id = $2::uuid AND is_under_way AND rule_id <> $1::uuid
    RETURNING rule_id
  )
  INSERT INTO rule_crashes (rule_id, event_id, workspace_id, is_under_way)
  SELECT rules.id, $2::uuid, rules.workspace_id, true FROM rules
  WHERE rules.id = $1::uuid AND NOT EXISTS (
    SELECT FROM rule_crashes
    WHERE event_id = $2::uuid AND crashes > 0
      AND rule_id <> $1::uuid AND rule_id NOT IN (SELECT rule_id FROM passed_rules)
  )
  ON CONFLICT (rule_id, event_id) DO UPDATE SET is_under_way = true, noted_at = now()`

/**
 * Notes the rule that is about to be run for an isolated event. If the worker ends, the rule is charged, and not the event. The rule that was
 * noted before it has been passed: what it was charged with for this event was a coincidence, and is withdrawn.
 *
 *   noted ─▶ passed: deleted
 *     └ the worker ends ─▶ charged (noteCrash) ─▶ noted again …
 *                            └ second crash, of any events ─▶ blamed, and paused
 */
export async function noteRule(database: Database, ruleId: string, eventId: string): Promise<void> {
  await database.run('note_rule', noteRuleSql, [ruleId, eventId])
}

const passRulesSql = 'DELETE FROM rule_crashes WHERE event_id = $1::uuid AND is_under_way'

/** Withdraws the note: the worker is alive, so the last rule did not end it. */
export async function passRules(database: Database, eventId: string): Promise<void> {
  await database.run('pass_rules', passRulesSql, [eventId])
}

/** $1 workspace · $2 number of crashes · $3 seconds · $4 error */
const blameRulesSql = `
  WITH blamed_rules AS (
    SELECT rule_id FROM rule_crashes
    WHERE workspace_id = $1::uuid
    GROUP BY rule_id
    HAVING sum(crashes + CASE WHEN is_under_way AND noted_at < now() - make_interval(secs => $3::int) THEN 1 ELSE 0 END) >= $2::int
  ),
  locked_counters AS (
    SELECT counters.rule_id FROM rule_counters AS counters
    JOIN blamed_rules ON blamed_rules.rule_id = counters.rule_id
    JOIN rules ON rules.id = counters.rule_id AND rules.is_active
    ORDER BY counters.rule_id FOR UPDATE OF counters
  )
  UPDATE rule_counters AS counters SET attention_reason = 'worker_crashes', attention_at = now(), last_error = $4
  FROM locked_counters WHERE counters.rule_id = locked_counters.rule_id
  RETURNING counters.rule_id AS id`

/**
 * Marks the active rules of a workspace that have ended as many workers as they may: isToBePaused holds for them. A note that is too old
 * belongs to a worker that ended, even where its event has not been delivered again.
 *
 * @returns their ids
 */
export async function blameRules(database: Database, workspaceId: string): Promise<string[]> {
  const error = 'Two workers crashed while they ran only this rule'
  const values = [workspaceId, maxCrashes, longestRunSeconds, error]
  const rows = await database.run<{ id: string }>('blame_rules', blameRulesSql, values)
  return rows.map(({ id }) => id)
}
