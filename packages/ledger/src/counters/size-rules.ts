import { definitionFields, Prisma, sizeFields, summaryFields, type UnscopedSql } from '@automation/database'

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
  const fields = parts === 'definition' ? definitionFields : summaryFields
  return database.$queryRaw<{ id: string; bytes: number }[]>(Prisma.sql`
    SELECT id, (coalesce(octet_length(last_error), 0) + ${Prisma.raw(sizeFields(fields))})::float8 AS bytes
    FROM rules LEFT JOIN rule_counters ON rule_id = id
    WHERE rules.workspace_id = ${workspaceId}::uuid ${narrowing} ORDER BY id DESC`)
}
