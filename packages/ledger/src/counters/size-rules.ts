import { Prisma, type UnscopedSql } from '@automation/database'

/**
 * Sizes the rules of a workspace, newest first: the bytes of all texts that a response has of each, the error of its counters included.
 *
 * @param narrowing of the rules, as `AND …`
 */
export function sizeRules(
  database: UnscopedSql,
  workspaceId: string,
  narrowing: Prisma.Sql = Prisma.empty,
): PromiseLike<{ id: string; bytes: number }[]> {
  return database.$queryRaw<{ id: string; bytes: number }[]>(Prisma.sql`
    SELECT id, (octet_length(name) + octet_length(description) + octet_length(conditions::text) + octet_length(actions::text)
                + coalesce(octet_length(last_error), 0))::float8 AS bytes
    FROM rules LEFT JOIN rule_counters ON rule_id = id
    WHERE rules.workspace_id = ${workspaceId}::uuid ${narrowing} ORDER BY id DESC`)
}
