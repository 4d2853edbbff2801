import type { Database } from '@automation/database'
import { isSuspendedSql } from '../parking/is-suspended.js'

/**
 * So many workers may end with the same event, or the same execution, before it is given up. With three, an innocent event was given up where
 * workers were killed every ten seconds for another reason: the event that was alone then is alone again after the next start.
 */
export const maxCrashes = 5

/**
 * The crash that brought the event here is counted with the first run. One that happened while a rule was noted (poison-rules.ts) is
 * charged to the rule instead. An event of a suspended workspace is not run, so none is counted.
 */
const noteCrashSql = `
  WITH charged_rules AS (
    UPDATE rule_crashes SET crashes = crashes + 1, is_under_way = false
    WHERE event_id = $1::uuid AND is_under_way
    RETURNING rule_id
  ),
  new_crashes AS (
    SELECT CASE WHEN EXISTS (SELECT FROM charged_rules) THEN 0 ELSE 1 END AS count
  )
  UPDATE events SET
    crashes = crashes + new_crashes.count,
    quarantined = crashes + new_crashes.count >= $2::int,
    done_at = CASE WHEN crashes + new_crashes.count >= $2::int THEN now() END
  FROM new_crashes
  WHERE id = $1::uuid AND done_at IS NULL
    AND NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = events.workspace_id AND ${isSuspendedSql})
  RETURNING quarantined, crashes > 1 OR EXISTS (
    SELECT FROM events AS others
    WHERE others.workspace_id = events.workspace_id AND others.done_at IS NULL AND others.crashes > 0 AND others.id <> events.id
  ) OR EXISTS (
    SELECT FROM rule_crashes WHERE rule_crashes.workspace_id = events.workspace_id
  ) AS "isSuspicious"`

/**
 * Counts a crash in advance, before an event is run that may be what ended its last worker. At the fifth one the event is
 * quarantined: marked done, without executions.
 *
 * @returns what to do with the event; `rehearse` before it is run where a worker has ended that ran it, or another event of its workspace,
 * alone; `done` where another delivery has finished it, or its workspace is suspended
 */
export async function noteCrash(
  database: Database,
  eventId: string,
): Promise<'run' | 'rehearse' | 'quarantined' | 'done'> {
  const [noted] = await database.run<{ quarantined: boolean; isSuspicious: boolean }>(
    'note_crash',
    noteCrashSql,
    [eventId, maxCrashes],
  )
  if (noted === undefined) return 'done'
  if (noted.quarantined) return 'quarantined'
  return noted.isSuspicious ? 'rehearse' : 'run'
}

const withdrawCrashSql = `
  UPDATE events SET crashes = crashes - 1
  WHERE id = $1::uuid AND done_at IS NULL AND crashes > 0`

/** Withdraws a crash that was counted in advance: the worker is alive, so the event did not end it. */
export async function withdrawCrash(database: Database, eventId: string): Promise<void> {
  await database.run('withdraw_crash', withdrawCrashSql, [eventId])
}
