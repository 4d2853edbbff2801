import type { Database } from '@automation/database'
import { isSuspendedSql } from '../parking/is-suspended.js'
import { inTurns } from '../turns/in-turns.js'
import { noteSweep } from '../turns/note-sweep.js'

/** What a look at a silent rule, or at one that was, has found. */
export interface Silence {
  ruleId: string
  workspaceId: string
  /** Of the workspace. */
  createdBy: string | null
  /** It was silent at the last look. */
  wasSilent: boolean
  /** From when the silence counts. It is another time if the rule has matched or was edited since. */
  countedFrom: Date
  /** When the newest event that it has matched was accepted; null: none is stored. */
  lastMatchAt: Date | null
}

const dueBefore = `now() - interval '9 seconds'`
const isDue = `checked_at <= ${dueBefore}`

const areDue = `SELECT FROM rule_silences WHERE ${isDue} LIMIT 1`

/** Whether there are silences to be looked at: mostly no rule expects anything. */
export async function areSilencesDue(database: Database): Promise<boolean> {
  return (await database.run('find_due_silences', areDue, [])).length > 0
}

/**
 * Looks at silences whose last look was ten seconds ago, in turns of their owners.
 *
 * - The last match is the newest execution of the rule that an event began, in whatever state. One that was executed by hand says nothing of
 *   its events. Ids have the clock of the API that made them, so the newest 20 are compared by Postgres' clock.
 * - Silence counts over the time in which the service worked. A gap is a time of 20 s and more in which no worker looked at any rule, and it counts for 20 s. A look
 *   that is late because there was much to look at counts in full:
 *
 *     looks at any rule  ──────────────┤ previous_at         since ├──────────── now
 *     looks at this one  ──┤ checked_at                                   this ├
 *                                      └──────── unseen ───────────┘
 *
 *   Of the time before the last run of looks it is not known what was seen. It does not count, so an alarm comes late rather than for nothing.
 * - No rule is silent while an event of its type waits that was accepted before: it may be the one that was expected. A backlog of others delays nothing.
 * - An inactive rule is not silent, and its silence counts from its activation.
 * - While its workspace is suspended, and until its events are unparked, nothing is told, and the time of the suspension does not count.
 *
 * $1 limit
 */
const lookAtDue = `
  WITH ${inTurns({
    table: 'rule_silences',
    key: 'rule_id',
    order: 'checked_at',
    ...{ from: `'-infinity'`, to: dueBefore },
    where: 'true',
    limit: '$1::int',
  })},
  due_silences AS (
    SELECT * FROM rule_silences
    WHERE rule_id = ANY (ARRAY(SELECT id FROM due_rows)) AND ${isDue}
    ORDER BY rule_id FOR UPDATE SKIP LOCKED
  ),
  last_gap AS (
    SELECT since, previous_since, previous_at FROM sweeps WHERE name = 'silences' AND at >= now() - interval '20 seconds'
    UNION ALL
    SELECT now(), since, at FROM sweeps WHERE name = 'silences' AND at < now() - interval '20 seconds'
    UNION ALL
    SELECT now(), NULL, NULL WHERE NOT EXISTS (SELECT FROM sweeps WHERE name = 'silences')
  ),
  known_silences AS (
    SELECT due.*, rules.is_active, rules.trigger, newest.last_match_at, ${isSuspendedSql} AS is_suspended,
           ${isSuspendedSql} OR has_parked AS is_held
    FROM due_silences AS due
    JOIN rules ON rules.id = due.rule_id
    JOIN workspaces ON workspaces.id = due.workspace_id
    CROSS JOIN LATERAL (
      SELECT max(events.accepted_at) AS last_match_at
      FROM (
        SELECT event_id FROM executions
        WHERE executions.handler_id = due.rule_id AND executions.id <> executions.event_id
        ORDER BY executions.id DESC LIMIT 20) AS matches
      JOIN events ON events.id = matches.event_id) AS newest
  ),
  moved_silences AS (
    SELECT known_silences.*,
           CASE WHEN NOT is_active THEN now()
                WHEN is_suspended THEN counted_from + (now() - checked_at)
                ELSE greatest(last_match_at, counted_from + greatest(since - checked_at - seen - interval '20 seconds', '0')) END AS moved_from
    FROM known_silences, last_gap
    CROSS JOIN LATERAL (SELECT greatest(previous_at - greatest(previous_since, checked_at), '0') AS seen) AS previous_run
  ),
  looked_silences AS (
    UPDATE rule_silences
    SET checked_at = now(), counted_from = least(moved_from, now()), silent_at = CASE WHEN is_active THEN rule_silences.silent_at END
    FROM moved_silences AS moved WHERE rule_silences.rule_id = moved.rule_id
    RETURNING rule_silences.rule_id, moved.workspace_id, moved.trigger, moved.is_active, moved.is_held, moved.last_match_at, moved.silent_at, moved.moved_from, moved.seconds,
              rule_silences.counted_from
  )
  SELECT rule_id AS "ruleId", workspace_id AS "workspaceId", silent_at IS NOT NULL AS "wasSilent", last_match_at AS "lastMatchAt",
         counted_from AS "countedFrom", (SELECT created_by FROM workspaces WHERE workspaces.id = workspace_id) AS "createdBy",
         is_active AND NOT is_held AND CASE
           WHEN silent_at IS NULL THEN now() >= moved_from + make_interval(secs => seconds) AND NOT EXISTS (
             SELECT FROM events
             WHERE done_at IS NULL AND parked IS NULL AND workspace_id = looked_silences.workspace_id AND type = trigger
               AND accepted_at < moved_from + make_interval(secs => seconds))
           ELSE now() < moved_from + make_interval(secs => seconds) END AS "isToldOf"
  FROM looked_silences`

/**
 * Looks at silences, each at most every ten seconds, whichever worker does.
 *
 * @returns how many it has looked at, and those that begin or end
 */
export async function lookAtSilences(
  database: Pick<Database, 'run'>,
  limit: number,
): Promise<{ looked: number; silences: Silence[] }> {
  const looked = await database.run<Silence & { isToldOf: boolean }>('look_at_silences', lookAtDue, [limit])
  if (looked.length > 0) await noteSweep(database, 'silences')
  const silences = looked.flatMap(({ isToldOf, ...silence }) => (isToldOf ? [silence] : []))
  return { looked: looked.length, silences }
}
