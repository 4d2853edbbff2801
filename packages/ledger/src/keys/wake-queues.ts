import { type Database, lowestId, type Statements } from '@automation/database'
import type { WokenExecution } from '../waits/open-wait.js'
import { withKeys } from './with-keys.js'

/** How many keys one look of a worker passes, in some 50 ms, and how many of them one transaction wakes: each may have a thousand to forget. */
const atOnce = { seen: 2_500, woken: 20 }

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
  )
  UPDATE executions SET due_at = now() FROM first_claims
  WHERE executions.id = first_claims.execution_id AND executions.due_at IS NOT NULL
  RETURNING executions.id AS "executionId", executions.event_id AS "eventId", executions.workspace_id AS "workspaceId", executions.due_at AS "dueAt",
            (SELECT created_by FROM workspaces WHERE workspaces.id = executions.workspace_id) AS "createdBy"`

/** Wakes the next of each key, under the locks of the keys. */
export async function wakeQueues(
  statements: Statements,
  keyIds: readonly string[],
): Promise<WokenExecution[]> {
  if (keyIds.length === 0) return []
  return statements.run<WokenExecution>('wake_queues', wakeQueuesSql, [keyIds])
}

/**
 * Walks from key to key along the index of those that are queued, however many wait for each. By its status: of due executions Postgres takes there to be
 * fewer than there are, and would rather read all of them.
 *
 * $1 the key before · $2 how many keys
 */
const findFreeQueuesSql = `
  WITH RECURSIVE next_keys AS (
    (SELECT key_id AS id FROM key_claims WHERE place = 'queued' AND key_id > $1::uuid ORDER BY key_id LIMIT 1)
    UNION ALL
    SELECT (SELECT key_id FROM key_claims WHERE place = 'queued' AND key_id > next_keys.id ORDER BY key_id LIMIT 1)
    FROM next_keys WHERE next_keys.id IS NOT NULL
  ),
  queued_keys AS MATERIALIZED (SELECT id FROM next_keys WHERE id IS NOT NULL LIMIT $2)
  SELECT (SELECT id FROM queued_keys ORDER BY id OFFSET $2 - 1) AS last, ARRAY(
    SELECT id FROM queued_keys WHERE NOT EXISTS (
      SELECT FROM key_claims JOIN executions ON executions.id = key_claims.execution_id
      WHERE key_claims.key_id = queued_keys.id AND key_claims.place = 'holds'
        AND executions.status IN ('running', 'waiting', 'retrying'))) AS free`

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
    const values = [this.#last, atOnce.seen]
    const [seen] = await this.#database.run<Seen>('find_free_queues', findFreeQueuesSql, values)
    const { last = null, free = [] } = seen ?? {}
    let sum = 0
    for (let index = 0; index < free.length; index += atOnce.woken) {
      const ids = free.slice(index, index + atOnce.woken)
      const locks = ids.map((id) => `key ${id}`)
      sum += (await withKeys(this.#database, locks, (statements) => wakeQueues(statements, ids))).length
    }
    this.#last = last ?? lowestId
    return sum
  }
}

interface Seen {
  /** null at the end: the next look begins anew. */
  last: string | null
  free: string[]
}
