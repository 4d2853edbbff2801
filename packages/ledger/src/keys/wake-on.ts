import type { Database } from '@automation/database'
import { wokenAtOnce } from './settle-waits.js'

/**
 * A row that is locked may be cancelled, or not (settle-waits.ts): its key stays marked until it is certain.
 *
 * $1 how many · $2 the key before
 */
const wakeOnSql = `
  WITH waking_keys AS (
    SELECT id, key FROM event_keys WHERE is_waking AND id > $2::bigint ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
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
    WHERE event_keys.id = waking_keys.id AND NOT EXISTS (
      SELECT FROM executions
      WHERE executions.wait_key = waking_keys.key AND executions.status = 'waiting' AND executions.due_at > now()
        AND executions.wait_seen < waking_keys.id AND executions.id NOT IN (SELECT id FROM waiting_executions))
  )
  SELECT id::text AS id, (SELECT count(*) FROM waiting_executions)::int AS woken FROM waking_keys`

/**
 * Wakes what the commits of events have left waiting, key by key, until only locked rows are left: these have their turn in the next sweep. The sweeper adds
 * the jobs.
 *
 * @returns how many were woken
 */
export async function wakeOn(database: Pick<Database, 'run'>, isOver: () => boolean): Promise<number> {
  let sum = 0
  let before = '0'
  while (!isOver()) {
    const [row] = await database.run<{ id: string; woken: number }>('wake_on', wakeOnSql, [
      wokenAtOnce,
      before,
    ])
    if (row === undefined) break
    sum += row.woken
    if (row.woken < wokenAtOnce) before = row.id
  }
  return sum
}
