import { type Database, lowestId, type Statements } from '@automation/database'
import type { WokenExecution } from '../waits/open-wait.js'
import { withKeys } from './with-keys.js'

/** How many keys with a queue one look of a worker passes, in some 20 ms, and how many of them one transaction wakes: each may have a thousand to forget. */
const keysAtOnce = { seen: 1_000, woken: 20 }

/**
 * A key whose holder is over, whoever ended it, goes to the first that waits for it. An execution holds its key from this commit on, so no event
 * that is recorded later comes before it. Those that were cancelled in the queue leave it.
 *
 * $1 ids of keys
 */
const wakeQueuesSql = `
  WITH free_keys AS (
    SELECT id FROM unnest($1::uuid[]) AS keys (id)
    WHERE NOT EXISTS (
      SELECT FROM key_claims JOIN executions ON executions.id = key_claims.execution_id
      WHERE key_claims.key_id = keys.id AND place = 'holds' AND executions.status IN ('running', 'waiting', 'retrying'))
  ),
  queued_claims AS (
    SELECT key_claims.*, coalesce(executions.status NOT IN ('running', 'waiting', 'retrying'), true) AS is_over
    FROM free_keys
    JOIN key_claims ON key_claims.key_id = free_keys.id AND key_claims.place = 'queued'
    LEFT JOIN executions ON executions.id = key_claims.execution_id
  ),
  first_claims AS (
    SELECT DISTINCT ON (key_id) execution_id FROM queued_claims WHERE NOT is_over ORDER BY key_id, accepted_at, event_id
  ),
  moved_claims AS (
    UPDATE key_claims SET place = CASE WHEN is_over THEN NULL ELSE 'holds' END FROM queued_claims
    WHERE key_claims.execution_id = queued_claims.execution_id
      AND (is_over OR queued_claims.execution_id IN (SELECT execution_id FROM first_claims))
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

/**
 * Walks from key to key along the index of those that are queued, however many wait for each. A key is free where its holder is over. By its status:
 * of due executions Postgres takes there to be fewer than there are, and would rather read all of them.
 *
 * $1 the key before · $2 how many
 */
const findFreeQueuesSql = `
  WITH RECURSIVE keys AS (
    (SELECT key_id AS id FROM key_claims WHERE place = 'queued' AND key_id > $1::uuid ORDER BY key_id LIMIT 1)
    UNION ALL
    SELECT (SELECT key_id FROM key_claims WHERE place = 'queued' AND key_id > keys.id ORDER BY key_id LIMIT 1)
    FROM keys WHERE keys.id IS NOT NULL
  )
  SELECT id, (
    SELECT 1 FROM key_claims JOIN executions ON executions.id = key_claims.execution_id
    WHERE key_claims.key_id = keys.id AND key_claims.place = 'holds'
      AND executions.status IN ('running', 'waiting', 'retrying') LIMIT 1) IS NULL AS "isFree"
  FROM keys WHERE id IS NOT NULL LIMIT $2`

/**
 * Wakes what waits for keys whose holder did not end by a step of its own: it was cancelled, or its rule was switched off and on. Each look goes
 * on where the one before has ended, so that it takes no longer where more keys have a queue.
 */
export class FreeQueues {
  readonly #database: Pick<Database, 'run' | 'transact'>
  #last = lowestId

  constructor(database: Pick<Database, 'run' | 'transact'>) {
    this.#database = database
  }

  /** The sweeper adds the jobs. @returns how many were woken */
  async wake(): Promise<number> {
    const { seen } = keysAtOnce
    const keys = await this.#database.run<{ id: string; isFree: boolean }>(
      'find_free_queues',
      findFreeQueuesSql,
      [this.#last, seen],
    )
    const free = keys.flatMap(({ id, isFree }) => (isFree ? id : []))
    let sum = 0
    for (let index = 0; index < free.length; index += keysAtOnce.woken)
      sum += await this.#wakeKeys(free.slice(index, index + keysAtOnce.woken))
    this.#last = keys.length < seen ? lowestId : (keys.at(-1)?.id ?? lowestId)
    return sum
  }

  async #wakeKeys(ids: string[]): Promise<number> {
    const locks = ids.map((id) => `key ${id}`)
    const woken = await withKeys(this.#database, locks, (statements) => wakeQueues(statements, ids))
    return woken.length
  }
}
