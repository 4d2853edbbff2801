import type { Database, Statements } from '@automation/database'
import type { WokenExecution } from './open-wait.js'

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
  RETURNING executions.id AS "executionId", executions.event_id AS "eventId", executions.workspace_id AS "workspaceId", executions.due_at AS "dueAt",
            (SELECT created_by FROM workspaces WHERE workspaces.id = executions.workspace_id) AS "createdBy"`

/** Wakes what waits for keys that events have left. Beyond a thousand it is left to workers (wakeOn). */
export function wakeWaits(statements: Statements, keys: readonly string[]): Promise<WokenExecution[]> {
  return statements.run<WokenExecution>('wake_waits', wakeWaitsSql, [keys, wokenAtOnce])
}

/** $1 the key before · $2 how many */
const findWakingKeysSql = `
  SELECT id::text AS id FROM event_keys WHERE is_waking AND id > $1::bigint ORDER BY id LIMIT $2`

/**
 * Wakes what the commits of events have left waiting, key by key, until only locked rows are left: these have their turn in the next sweep. The sweeper adds
 * the jobs.
 *
 * @returns how many were woken
 */
export async function wakeOn(database: Pick<Database, 'run'>, isOver: () => boolean): Promise<number> {
  let sum = 0
  for (let before: string | undefined = '0'; before !== undefined && !isOver(); ) {
    const values = [before, keysAtOnce]
    const keys: { id: string }[] = await database.run('find_waking_keys', findWakingKeysSql, values)
    for (const { id } of keys)
      for (let woken = wokenAtOnce; woken === wokenAtOnce && !isOver(); sum += woken)
        woken = (await wakeWaits(database, [id])).length
    before = keys.length < keysAtOnce ? undefined : keys.at(-1)?.id
  }
  return sum
}
