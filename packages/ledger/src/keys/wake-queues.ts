import { type Database, highestId, lowestId, type Statements, writeJson } from '@automation/database'
import { ownerSql } from '../turns/in-turns.js'
import { type WokenExecution, wokenColumnsSql } from '../waits/open-wait.js'
import { withKeys } from './with-keys.js'

/**
 * How many keys one look of a worker passes, in some 50 ms, of how many workspaces, and how many of them one transaction wakes: each may have a thousand to
 * forget.
 */
const atOnce = { seen: 2_500, workspaces: 500, woken: 20 }

/**
 * A key whose holder is over goes to the first that waits for it. An execution holds its key from this commit on, so no event
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
  RETURNING ${wokenColumnsSql}`

/** Wakes the next of each key, under the locks of the keys. */
export async function wakeQueues(
  statements: Statements,
  keyIds: readonly string[],
): Promise<WokenExecution[]> {
  if (keyIds.length === 0) return []
  return statements.run<WokenExecution>('wake_queues', wakeQueuesSql, [keyIds])
}

/** Compared as one row: the index of all that are placed would read those of other workspaces, too. */
function nextQueued(after: string): string {
  return `
          FROM key_claims
          WHERE place = 'queued' AND (workspace_id, key_id) > (walks.id, ${after}) AND (workspace_id, key_id) <= (walks.id, '${highestId}')
          ORDER BY workspace_id, key_id LIMIT 1`
}

/**
 * Walks from key to key along the index of those that are queued, however many wait for each: in each workspace from where the last look ended, and with an
 * equal part of the keys for each owner.
 *
 * $1 where the walk of each workspace stands · $2 how many keys · $3 the workspace before · $4 how many workspaces
 */
const findFreeQueues = `
  WITH RECURSIVE next_workspaces AS (
    (SELECT workspace_id AS id FROM key_claims WHERE place = 'queued' AND workspace_id > $3::uuid ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT workspace_id FROM key_claims WHERE place = 'queued' AND workspace_id > next_workspaces.id ORDER BY workspace_id LIMIT 1)
    FROM next_workspaces WHERE next_workspaces.id IS NOT NULL
  ),
  seen_workspaces AS MATERIALIZED (
    SELECT seen.id, ${ownerSql} AS owner, count(*) OVER (PARTITION BY ${ownerSql}) AS siblings
    FROM (SELECT id FROM next_workspaces WHERE id IS NOT NULL LIMIT $4) AS seen LEFT JOIN workspaces USING (id)
  ),
  walks AS MATERIALIZED (
    SELECT seen_workspaces.id, coalesce(walked.last, '${lowestId}') AS last,
           ceil($2::float8 / (SELECT count(DISTINCT coalesce(owner, '')) FROM seen_workspaces) / siblings)::bigint AS part
    FROM seen_workspaces LEFT JOIN json_to_recordset($1::json) AS walked (id uuid, last uuid) USING (id)
  ),
  queued_keys AS MATERIALIZED (
    SELECT walks.id AS workspace_id, keys.key_id, keys.place, part
    FROM walks
    CROSS JOIN LATERAL (
      WITH RECURSIVE next_keys AS (
        (SELECT key_id, 1 AS place ${nextQueued('walks.last')})
        UNION ALL
        SELECT (SELECT key_id ${nextQueued('next_keys.key_id')}), next_keys.place + 1
        FROM next_keys WHERE next_keys.key_id IS NOT NULL AND next_keys.place < part
      )
      SELECT * FROM next_keys WHERE key_id IS NOT NULL
    ) AS keys
  )
  SELECT walks.id AS "workspaceId",
         (SELECT key_id FROM queued_keys WHERE workspace_id = walks.id AND place = part) AS last,
         ARRAY(
           SELECT key_id FROM queued_keys
           WHERE workspace_id = walks.id AND NOT EXISTS (
             SELECT FROM key_claims JOIN executions ON executions.id = key_claims.execution_id
             WHERE key_claims.key_id = queued_keys.key_id AND key_claims.place = 'holds'
               AND executions.status IN ('running', 'waiting', 'retrying'))) AS free
  FROM walks ORDER BY walks.id`

/**
 * Wakes what waits for keys whose holder did not end by a step of its own: it was cancelled, or its rule was switched off and on. Each look goes
 * on where the one before has ended, in each workspace, so that it takes no longer where more keys have a queue.
 */
export class FreeQueues {
  readonly #database: Pick<Database, 'run' | 'transact'>
  /** Of workspaces whose walk has not come to its end. */
  readonly #last = new Map<string, string>()
  #lastWorkspace = lowestId

  constructor(database: Pick<Database, 'run' | 'transact'>) {
    this.#database = database
  }

  /** The sweeper adds the jobs. @returns how many were woken @throws the first fault, after all workspaces had their turn */
  async wake(): Promise<number> {
    const walks = [...this.#last].map(([id, last]) => ({ id, last }))
    const values = [writeJson(walks), atOnce.seen, this.#lastWorkspace, atOnce.workspaces]
    const seen = await this.#database.run<Seen>('find_free_queues', findFreeQueues, values)
    let sum = 0
    const faults: unknown[] = []
    for (const { workspaceId, last, free } of seen) {
      try {
        for (let index = 0; index < free.length; index += atOnce.woken)
          sum += await this.#wakeSome(free.slice(index, index + atOnce.woken))
        if (last === null) this.#last.delete(workspaceId)
        else this.#last.set(workspaceId, last)
      } catch (error) {
        // A key that is busy keeps no other workspace waiting. Its own walk looks at the same keys again.
        faults.push(error)
      }
    }
    const isLast = seen.length < atOnce.workspaces
    this.#lastWorkspace = isLast ? lowestId : (seen.at(-1)?.workspaceId ?? lowestId)
    if (faults.length > 0) throw faults[0]
    return sum
  }

  async #wakeSome(ids: string[]): Promise<number> {
    const locks = ids.map((id) => `key ${id}`)
    return (await withKeys(this.#database, locks, (statements) => wakeQueues(statements, ids))).length
  }
}

interface Seen {
  workspaceId: string
  /** null at the end of its keys: the next look begins anew. */
  last: string | null
  free: string[]
}
