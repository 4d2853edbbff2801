import type { Database, Statements } from '@automation/database'
import type { WokenExecution } from '../waits/open-wait.js'
import { withKeys } from './with-keys.js'

/** How many keys one transaction of a worker looks at. */
const keysAtOnce = 200

/**
 * A key whose holder is over, whoever ended it, goes to the first that waits for it. An execution holds its key from this commit on, so no event
 * that is recorded later comes before it.
 *
 * $1 ids of keys
 */
const wakeQueuesSql = `
  WITH free_keys AS (
    SELECT id FROM unnest($1::uuid[]) AS keys (id)
    WHERE NOT EXISTS (
      SELECT FROM key_claims JOIN executions ON executions.id = key_claims.execution_id
      WHERE key_claims.key_id = keys.id AND place = 'holds' AND executions.due_at IS NOT NULL)
  ),
  first_claims AS (
    SELECT DISTINCT ON (key_claims.key_id) key_claims.execution_id
    FROM free_keys
    JOIN key_claims ON key_claims.key_id = free_keys.id AND key_claims.place = 'queued'
    JOIN executions ON executions.id = key_claims.execution_id AND executions.due_at IS NOT NULL
    ORDER BY key_claims.key_id, key_claims.accepted_at, key_claims.event_id
  ),
  woken_claims AS (
    UPDATE key_claims SET place = 'holds' FROM first_claims WHERE key_claims.execution_id = first_claims.execution_id
  ),
  woken_executions AS (
    UPDATE executions SET due_at = now() FROM first_claims
    WHERE executions.id = first_claims.execution_id AND executions.due_at IS NOT NULL
    RETURNING executions.id, executions.event_id, executions.workspace_id, executions.due_at
  )
  SELECT woken.id AS "executionId", woken.event_id AS "eventId", woken.workspace_id AS "workspaceId", woken.due_at AS "dueAt",
         workspaces.created_by AS "createdBy"
  FROM woken_executions AS woken JOIN workspaces ON workspaces.id = woken.workspace_id`

/** Wakes the next of each key, under the locks of the keys. */
export async function wakeQueues(
  statements: Statements,
  keyIds: readonly string[],
): Promise<WokenExecution[]> {
  if (keyIds.length === 0) return []
  return statements.run<WokenExecution>('wake_queues', wakeQueuesSql, [keyIds])
}

/** $1 how many */
const findFreeQueuesSql = `
  SELECT DISTINCT waiting.key_id AS id FROM key_claims AS waiting
  JOIN executions ON executions.id = waiting.execution_id AND executions.due_at IS NOT NULL
  WHERE waiting.place = 'queued' AND NOT EXISTS (
    SELECT FROM key_claims AS holding JOIN executions AS held ON held.id = holding.execution_id
    WHERE holding.key_id = waiting.key_id AND holding.place = 'holds' AND held.due_at IS NOT NULL)
  LIMIT $1`

/**
 * Wakes what waits for keys whose holder did not end by a step of its own: it was cancelled, or its rule was switched off and on. The sweeper adds
 * the jobs. @returns how many were woken
 */
export async function wakeFreeQueues(
  database: Pick<Database, 'run' | 'transact'>,
  isOver: () => boolean,
): Promise<number> {
  let sum = 0
  while (!isOver()) {
    const free = await database.run<{ id: string }>('find_free_queues', findFreeQueuesSql, [keysAtOnce])
    const ids = free.map(({ id }) => id)
    if (ids.length === 0) break
    const woken = await withKeys(
      database,
      ids.map((id) => `key ${id}`),
      (statements) => wakeQueues(statements, ids),
    )
    sum += woken.length
    if (woken.length === 0) break
  }
  return sum
}
