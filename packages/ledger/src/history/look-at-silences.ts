import type { Database } from '@automation/database'

/** What a look at a silent rule, or at one that was, has found. */
export interface Silence {
  ruleId: string
  workspaceId: string
  /** It was silent at the last look. */
  wasSilent: boolean
  /** From when the silence counts. It is another time if the rule has matched or was edited since. */
  countedFrom: Date
  /** When the newest event that it has matched was accepted; null: none is stored. */
  lastMatchAt: Date | null
}

const silencesDueSql = `SELECT FROM rule_silences WHERE checked_at <= now() - interval '9 seconds' LIMIT 1`

/** Whether there are silences to be looked at: mostly no rule expects anything. */
export async function areSilencesDue(database: Database): Promise<boolean> {
  return (await database.run('find_due_silences', silencesDueSql, [])).length > 0
}

/**
 * Looks at silences whose last look was ten seconds ago.
 *
 * - The last match is the newest execution of the rule that an event began, in whatever state. One that was executed by hand says nothing of
 *   its events. Ids have the clock of the API that made them, so the newest 20 are compared by Postgres' clock.
 * - Silence counts over the time in which the service worked: of the time between two looks it counts 20 s at most. And no rule is silent while an
 *   event of its type waits that was accepted before: it may be the one that was expected. A backlog of others delays nothing.
 * - An inactive rule is not silent, and its silence counts from its activation.
 *
 * $1 limit
 */
const lookAtSilencesSql = `
  WITH due_silences AS (
    SELECT * FROM rule_silences
    WHERE checked_at <= now() - interval '9 seconds'
    ORDER BY checked_at LIMIT $1::int
    FOR UPDATE SKIP LOCKED
  ),
  known_silences AS (
    SELECT due.*, rules.is_active, rules.trigger, newest.last_match_at
    FROM due_silences AS due
    JOIN rules ON rules.id = due.rule_id
    CROSS JOIN LATERAL (
      SELECT max(events.accepted_at) AS last_match_at
      FROM (
        SELECT event_id FROM executions
        WHERE executions.rule_id = due.rule_id AND executions.id <> executions.event_id
        ORDER BY executions.id DESC LIMIT 20) AS matches
      JOIN events ON events.id = matches.event_id) AS newest
  ),
  moved_silences AS (
    SELECT *,
           CASE WHEN NOT is_active THEN now()
                ELSE greatest(last_match_at, counted_from + greatest(now() - checked_at - interval '20 seconds', '0')) END AS moved_from
    FROM known_silences
  ),
  looked_silences AS (
    UPDATE rule_silences
    SET checked_at = now(), counted_from = least(moved_from, now()), silent_at = CASE WHEN is_active THEN rule_silences.silent_at END
    FROM moved_silences AS moved WHERE rule_silences.rule_id = moved.rule_id
    RETURNING rule_silences.rule_id, moved.workspace_id, moved.trigger, moved.is_active, moved.last_match_at, moved.silent_at, moved.moved_from, moved.seconds,
              rule_silences.counted_from
  )
  SELECT rule_id AS "ruleId", workspace_id AS "workspaceId", silent_at IS NOT NULL AS "wasSilent", last_match_at AS "lastMatchAt",
         counted_from AS "countedFrom"
  FROM looked_silences
  WHERE is_active AND CASE
    WHEN silent_at IS NULL THEN now() >= moved_from + make_interval(secs => seconds) AND NOT EXISTS (
      SELECT FROM events
      WHERE done_at IS NULL AND workspace_id = looked_silences.workspace_id AND type = trigger
        AND accepted_at < moved_from + make_interval(secs => seconds))
    ELSE now() < moved_from + make_interval(secs => seconds) END`

/**
 * Looks at silences, each at most every ten seconds, whichever worker does.
 *
 * @returns those that begin or end
 */
export function lookAtSilences(database: Database, limit: number): Promise<Silence[]> {
  return database.run<Silence>('look_at_silences', lookAtSilencesSql, [limit])
}
