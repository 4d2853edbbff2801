import { type Database, idRangeOf } from '@automation/database'
import { isSuspendedSql } from './is-suspended.js'

/**
 * Unfinished work of a suspended workspace is parked: it stays as it is, and leaves the indexes of what workers have to do. So it costs nothing, however
 * much there is, and nobody is late because of it.
 *
 *   to be done ──sweeper, while it is suspended──▶ parked ──unparkSome, after it was resumed──▶ to be done, from now on
 *
 * The lock on the workspace orders this against the change that resumes it: after that nothing is parked any more. One that is being changed is left to
 * the next sweep.
 */
export const suspendedWorkspacesSql = `
  WITH suspended_workspaces AS MATERIALIZED (
    SELECT id FROM workspaces WHERE id = ANY ($2::uuid[]) AND has_parked AND ${isSuspendedSql} FOR SHARE SKIP LOCKED
  )`

interface Row {
  id: string
  workspaceId: string
}

/** $1 events · $2 their workspaces · $3 and $4 the lowest and the highest id */
const parkEventsSql = `${suspendedWorkspacesSql}
  UPDATE events SET parked = true
  WHERE id = ANY ($1::uuid[]) AND id >= $3::uuid AND id <= $4::uuid AND done_at IS NULL AND workspace_id IN (SELECT id FROM suspended_workspaces)`

/** Only those that are due: another one is held by a worker, which records what its call has done. $1 to $4 as above */
const parkExecutionsSql = `${suspendedWorkspacesSql}
  UPDATE executions SET parked = true
  WHERE id = ANY ($1::uuid[]) AND id >= $3::uuid AND id <= $4::uuid AND due_at <= now() AND workspace_id IN (SELECT id FROM suspended_workspaces)`

export function parkEvents(database: Pick<Database, 'run'>, rows: readonly Row[]): Promise<unknown> {
  return database.run('park_events', parkEventsSql, valuesOf(rows))
}

export function parkExecutions(database: Pick<Database, 'run'>, rows: readonly Row[]): Promise<unknown> {
  return database.run('park_executions', parkExecutionsSql, valuesOf(rows))
}

function valuesOf(rows: readonly Row[]) {
  const ids = rows.map(({ id }) => id)
  return [ids, [...new Set(rows.map(({ workspaceId }) => workspaceId))], ...idRangeOf(ids)]
}
