import type { Database } from '@automation/database'
import { isSuspendedSql } from './is-suspended.js'

/** How many rows one statement unparks, in some 20 ms, and for how many workspaces a look does. */
const atOnce = { rows: 1_000, workspaces: 20 }

/** In an order that differs each time: a long backlog holds up no other workspace. $1 how many */
const findResumedSql = `
  SELECT id FROM workspaces WHERE has_parked AND NOT ${isSuspendedSql} ORDER BY random() LIMIT $1`

/**
 * They are due from now on. Another worker may be at the same rows: who comes second waits, and finds that they are not parked any more.
 *
 * $1 workspace · $2 how many
 */
function unparkSql(table: string, changes: string): string {
  return `
  WITH page AS MATERIALIZED (
    SELECT id FROM ${table} WHERE workspace_id = $1::uuid AND parked ORDER BY workspace_id, id LIMIT $2
  ),
  unparked AS (
    UPDATE ${table} SET parked = NULL, ${changes} WHERE id = ANY (ARRAY(SELECT id FROM page)) AND parked RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM page) AS seen, (SELECT count(*)::int FROM unparked) AS unparked`
}

const unparkEventsSql = unparkSql('events', 'unparked_at = now()')
const unparkExecutionsSql = unparkSql(
  'executions',
  'due_at = greatest(due_at, CASE WHEN due_at IS NOT NULL THEN now() END)',
)

/** If it was suspended again meanwhile, or is being changed, a later look does it. $1 workspace */
const noteUnparkedSql = `
  UPDATE workspaces SET has_parked = false
  WHERE id = $1::uuid AND NOT ${isSuspendedSql}
    AND NOT EXISTS (SELECT FROM events WHERE workspace_id = $1::uuid AND parked)
    AND NOT EXISTS (SELECT FROM executions WHERE workspace_id = $1::uuid AND parked)`

/**
 * Unparks what workspaces have that were resumed, their events first: an event from before the end of a WAIT still ends it. The sweeper adds the jobs. It may be
 * killed at any moment, and another worker may do the same: the next look goes on.
 *
 * @returns how many rows this worker has unparked
 */
export async function unparkSome(database: Pick<Database, 'run'>, isOver: () => boolean): Promise<number> {
  let sum = 0
  const resumed = await database.run<{ id: string }>('find_resumed', findResumedSql, [atOnce.workspaces])
  let left = resumed.map(({ id }) => id)
  while (left.length > 0 && !isOver()) {
    const unfinished: string[] = []
    for (const id of left) {
      const { seen, unparked } = await unparkRows(database, id)
      sum += unparked
      if (seen > 0) unfinished.push(id)
      else await database.run('note_unparked', noteUnparkedSql, [id])
    }
    left = unfinished
  }
  return sum
}

interface UnparkedRows {
  /** With those that another worker has unparked meanwhile. */
  seen: number
  unparked: number
}

async function unparkRows(database: Pick<Database, 'run'>, workspaceId: string): Promise<UnparkedRows> {
  const values = [workspaceId, atOnce.rows]
  const [events] = await database.run<UnparkedRows>('unpark_events', unparkEventsSql, values)
  if (events && events.seen > 0) return events
  const [executions] = await database.run<UnparkedRows>('unpark_executions', unparkExecutionsSql, values)
  return executions ?? { seen: 0, unparked: 0 }
}
