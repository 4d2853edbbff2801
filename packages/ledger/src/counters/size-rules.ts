import { Prisma, type UnscopedSql } from '@automation/database'

/**
 * Sizes the rules of a workspace, newest first: the bytes of all texts that a response has of each, the error of its counters included.
 *
 * @param narrowing of the rules, as `AND …`
 * @param parts a summary has no conditions and actions
 */
export function sizeRules(
  database: UnscopedSql,
  workspaceId: string,
  narrowing: Prisma.Sql = Prisma.empty,
  parts: 'definition' | 'summary' = 'definition',
): PromiseLike<{ id: string; bytes: number }[]> {
  const definition =
    parts === 'definition'
      ? Prisma.sql`+ octet_length(conditions::text) + octet_length(actions::text)`
      : Prisma.empty
  return database.$queryRaw<{ id: string; bytes: number }[]>(Prisma.sql`
    SELECT id, (octet_length(name) + octet_length(description) + coalesce(octet_length(last_error), 0) ${definition})::float8 AS bytes
    FROM rules LEFT JOIN rule_counters ON rule_id = id
    WHERE rules.workspace_id = ${workspaceId}::uuid ${narrowing} ORDER BY id DESC`)
}
