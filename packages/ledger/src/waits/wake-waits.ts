import type { Database, Statements } from '@automation/database'
import { inTurns } from '../turns/in-turns.js'
import { type WokenExecution, wokenColumnsSql } from './open-wait.js'

/** How many executions one statement wakes, in some 20 ms. */
const wokenAtOnce = 1_000
/** How many keys are read at once. */
const keysAtOnce = 100

/**
 * A row that is locked may be in a cancellation that is rolled back: it goes on waiting then, and only the key knows that it has to be woken. So a key stays
 * marked as long as anything waits for it that has not seen it.
 *
 * $1 ids of event keys that are marked · $2 how many executions
 */
const wakeWaitsSql = `
  WITH waking_keys AS (
    SELECT id, key FROM event_keys WHERE id = ANY ($1::bigint[])
  ),
  waiting_executions AS (
    SELECT id FROM executions
    WHERE wait_key = ANY (ARRAY(SELECT key FROM waking_keys)) AND status = 'waiting' AND due_at > now()
      AND wait_seen < (SELECT max(id) FROM waking_keys)
    LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED
  ),
  done_keys AS (
    UPDATE event_keys SET is_waking = false FROM waking_keys
    WHERE event_keys.id = waking_keys.id AND NOT EXISTS (
      SELECT FROM executions
      WHERE executions.wait_key = waking_keys.key AND executions.status = 'waiting' AND executions.due_at > now()
        AND executions.wait_seen < waking_keys.id AND executions.id NOT IN (SELECT id FROM waiting_executions))
  )
  UPDATE executions SET due_at = now() FROM waiting_executions
  WHERE executions.id = waiting_executions.id
  RETURNING ${wokenColumnsSql}`

/** Wakes what waits for keys that events have left. Beyond a thousand it is left to workers (wakeOn). */
export function wakeWaits(statements: Statements, keys: readonly string[]): Promise<WokenExecution[]> {
  return statements.run<WokenExecution>('wake_waits', wakeWaitsSql, [keys, wokenAtOnce])
}

/** $1 how many */
const findWaking = `
  WITH ${inTurns({
    table: 'event_keys',
    ...{ key: 'id', order: 'id', from: '0', to: `${Number.MAX_SAFE_INTEGER}` },
    where: 'is_waking',
    limit: '$1::int',
  })}
  SELECT id::text AS id FROM due_rows`

/**
 * Wakes what the commits of events have left waiting, a thousand of each key at a time and the keys in turns of their owners, until only locked rows are
 * left: these have their turn in the next sweep. The sweeper adds the jobs.
 *
 * @returns how many were woken
 */
export async function wakeOn(database: Pick<Database, 'run'>, isOver: () => boolean): Promise<number> {
  let sum = 0
  for (let before = '', isLeft = true; isLeft && !isOver(); ) {
    const keys = await database.run<{ id: string }>('find_waking_keys', findWaking, [keysAtOnce])
    let woken = 0
    for (const { id } of keys) if (!isOver()) woken += (await wakeWaits(database, [id])).length
    sum += woken
    const found = keys.map(({ id }) => id).join()
    isLeft = woken > 0 || found !== before
    before = found
  }
  return sum
}
