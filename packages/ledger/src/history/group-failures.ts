import { Prisma, type UnscopedSql } from '@automation/database'
import { narrowExecutions } from './list-executions.js'

/** So many executions that did not succeed are read at most, the newest first. */
export const maxGroupedFailures = 20_000
/** The length of a search for an error: longer errors are the same if they begin alike. */
const errorLength = 200

/** Failed executions of one rule with one error. */
export interface FailureGroup {
  ruleId: string
  /** null: the rule was deleted. */
  ruleName: string | null
  error: string
  count: number
  /** The ids of the first and the last of them, which carry the times of their events. */
  first: string
  last: string
}

/** Groups the failed executions of a time by rule and error, the largest group first. The index of what did not succeed leads to them. */
export async function groupFailures(
  database: UnscopedSql,
  workspaceId: string,
  { limit, ...filter }: { from: Date; to: Date; ruleId?: string; eventType?: string; limit: number },
): Promise<FailureGroup[]> {
  const { range, rest } = narrowExecutions(workspaceId, { ...filter, statuses: ['failed'] })
  return database.$queryRaw<FailureGroup[]>(Prisma.sql`
    WITH newest AS (
      SELECT * FROM (
        SELECT rule_id, error, status, event_type, id FROM executions WHERE ${range}
        ORDER BY executions.id DESC LIMIT ${maxGroupedFailures}
      ) AS executions WHERE ${rest ?? Prisma.sql`TRUE`}
    ),
    grouped AS (
      SELECT rule_id, left(coalesce(error, ''), ${errorLength}) AS error, count(*)::int AS count,
             min(id::text) AS "first", max(id::text) AS "last"
      FROM newest GROUP BY 1, 2 ORDER BY count(*) DESC, max(id::text) DESC LIMIT ${limit}
    )
    SELECT grouped.rule_id AS "ruleId", rules.name AS "ruleName", grouped.error, grouped.count, grouped."first", grouped."last"
    FROM grouped LEFT JOIN rules ON rules.workspace_id = ${workspaceId}::uuid AND rules.id = grouped.rule_id
    ORDER BY grouped.count DESC, grouped."last" DESC`)
}
