import type { Database } from '@automation/database'
import { wokenAtOnce } from './settle-waits.js'

/**
 * $1 how many
 *
 * A row that is locked looks for the key by itself (settle-waits.ts), so the work is over when no other one is left.
 */
const wakeOnSql = `
  WITH waking_keys AS (
    SELECT id, key FROM event_keys WHERE is_waking ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
  ),
  waiting_executions AS (
    SELECT executions.id FROM waking_keys JOIN executions ON executions.wait_key = waking_keys.key
    WHERE executions.status = 'waiting' AND executions.due_at > now() AND executions.wait_seen < waking_keys.id
    LIMIT $1::int FOR NO KEY UPDATE OF executions SKIP LOCKED
  ),
  woken_executions AS (
    UPDATE executions SET due_at = now() FROM waiting_executions WHERE executions.id = waiting_executions.id
  ),
  done_keys AS (
    UPDATE event_keys SET is_waking = false FROM waking_keys
    WHERE event_keys.id = waking_keys.id AND (SELECT count(*) FROM waiting_executions) < $1::int
  )
  SELECT (SELECT count(*) FROM waiting_executions)::int AS woken, (SELECT count(*) FROM waking_keys)::int AS keys`

/** Wakes what the commits of events have left waiting, until nothing is left. The sweeper adds the jobs. @returns how many were woken */
export async function wakeOn(database: Pick<Database, 'run'>, isOver: () => boolean): Promise<number> {
  let sum = 0
  while (!isOver()) {
    const [row] = await database.run<{ woken: number; keys: number }>('wake_on', wakeOnSql, [wokenAtOnce])
    if (row === undefined || row.keys === 0) break
    sum += row.woken
  }
  return sum
}
