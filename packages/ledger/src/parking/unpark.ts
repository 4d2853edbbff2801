import type { Database } from '@automation/database'
import { isSuspendedSql } from './is-suspended.js'

/** How many rows one statement unparks, in some 20 ms, and for how many workspaces a look does. */
const atOnce = { rows: 1_000, workspaces: 20 }

/** In an order that differs each time: a long backlog holds up no other workspace. $1 how many */
const findResumedSql = `
  SELECT id FROM workspaces WHERE has_parked AND NOT ${isSuspendedSql} ORDER BY random() LIMIT $1`

/** They are due from now on. $1 workspace · $2 how many */
const unparkEventsSql = `
  UPDATE events SET parked = NULL, unparked_at = now()
  WHERE id = ANY (ARRAY(SELECT id FROM events WHERE workspace_id = $1::uuid AND parked ORDER BY workspace_id, id LIMIT $2))
  RETURNING id`

/** $1 workspace · $2 how many */
const unparkExecutionsSql = `
  UPDATE executions SET parked = NULL, due_at = greatest(due_at, CASE WHEN due_at IS NOT NULL THEN now() END)
  WHERE id = ANY (ARRAY(SELECT id FROM executions WHERE workspace_id = $1::uuid AND parked ORDER BY workspace_id, id LIMIT $2))
  RETURNING id`

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
 * @returns how many rows were unparked
 */
export async function unparkSome(database: Pick<Database, 'run'>, isOver: () => boolean): Promise<number> {
  let sum = 0
  const resumed = await database.run<{ id: string }>('find_resumed', findResumedSql, [atOnce.workspaces])
  let left = resumed.map(({ id }) => id)
  while (left.length > 0 && !isOver()) {
    const unfinished: string[] = []
    for (const id of left) {
      const unparked = await unparkRows(database, id)
      sum += unparked
      if (unparked > 0) unfinished.push(id)
      else await database.run('note_unparked', noteUnparkedSql, [id])
    }
    left = unfinished
  }
  return sum
}

async function unparkRows(database: Pick<Database, 'run'>, workspaceId: string): Promise<number> {
  const values = [workspaceId, atOnce.rows]
  const events = await database.run('unpark_events', unparkEventsSql, values)
  if (events.length > 0) return events.length
  return (await database.run('unpark_executions', unparkExecutionsSql, values)).length
}
