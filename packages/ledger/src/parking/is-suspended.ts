import type { Database } from '@automation/database'

/** Whether the workspace of a row that is joined as `workspaces` is suspended: by somebody, because its deletion was asked for, or while it is closed. */
export const isSuspendedSql = `
  (coalesce(workspaces.suspended_at, workspaces.deletes_at, workspaces.closed_at) IS NOT NULL)`

/** $1 workspaces */
const findSuspendedSql = `SELECT id FROM workspaces WHERE id = ANY ($1::uuid[]) AND ${isSuspendedSql}`

/** Finds which of these workspaces are suspended. */
export async function findSuspended(database: Pick<Database, 'run'>, ids: string[]): Promise<string[]> {
  return (await database.run<{ id: string }>('find_suspended', findSuspendedSql, [ids])).map(({ id }) => id)
}
