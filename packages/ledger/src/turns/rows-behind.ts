import { highestId, lowestId, Prisma } from '@automation/database'

/**
 * A condition for a walk through the rows of a workspace, with ORDER BY workspace_id, id and a LIMIT. Workspace and id are compared as one row, so that only
 * their common index has the order, and the rows of others are not read. The workspace is a SELECT: by its value Postgres expects hardly any row of the first
 * or the last of all workspaces, as the only one is, and would read all that is left and sort it, for each page.
 *
 * @param after the row behind which they begin @param until the last one
 */
export function rowsBehind(workspaceId: string, after: string | null, until = highestId): Prisma.Sql {
  const own = Prisma.sql`(SELECT ${workspaceId}::uuid)`
  return Prisma.sql`
    (workspace_id, id) > (${own}, ${after ?? lowestId}::uuid) AND (workspace_id, id) <= (${own}, ${until}::uuid)`
}
