import { Prisma, type UnscopedSql } from '@automation/database'
import { groupedErrorLength } from '@automation/ledger'
import { narrowExecutions } from './list-executions.js'

/** So many executions that did not succeed are read at most, the newest first. */
export const maxGroupedFailures = 20_000

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
  /** The execution that failed last: to acknowledge it acknowledges all of them. */
  newest: string
  /** Who acknowledged all of them, and when; null: nobody. */
  acknowledgement: { actor: string; at: Date } | null
}

/**
 * Groups the failed executions of a time by rule and error. Those that nobody acknowledged come first, then the largest. The index of what did
 * not succeed leads to them.
 */
export async function groupFailures(
  database: UnscopedSql,
  workspaceId: string,
  { limit, ...filter }: { from: Date; to: Date; ruleId?: string; eventType?: string; limit: number },
): Promise<FailureGroup[]> {
  const { range, rest } = narrowExecutions(workspaceId, { ...filter, statuses: ['failed'] })
  const rows = await database.$queryRaw<GroupRow[]>(Prisma.sql`
    WITH newest AS (
      SELECT * FROM (
        SELECT handler_id, error, status, event_type, id, finished_at FROM executions WHERE ${range}
        ORDER BY executions.id DESC LIMIT ${maxGroupedFailures}
      ) AS executions WHERE ${rest ?? Prisma.sql`TRUE`}
    ),
    grouped AS (
      SELECT handler_id, left(coalesce(error, ''), ${groupedErrorLength}) AS error, count(*)::int AS count,
             min(id::text) AS "first", max(id::text) AS "last",
             max(finished_at) AS failed_at, (array_agg(id ORDER BY finished_at DESC, id DESC))[1] AS newest
      FROM newest GROUP BY 1, 2
    )
    SELECT grouped.handler_id AS "ruleId", rules.name AS "ruleName", grouped.error, grouped.count, grouped."first", grouped."last",
           grouped.newest, acknowledgements.actor, acknowledgements.at
    FROM grouped
    LEFT JOIN rules ON rules.workspace_id = ${workspaceId}::uuid AND rules.id = grouped.handler_id
    LEFT JOIN acknowledgements
      ON acknowledgements.workspace_id = ${workspaceId}::uuid AND acknowledgements.handler_id = grouped.handler_id
         AND acknowledgements.error = grouped.error AND acknowledgements.until >= grouped.failed_at
    ORDER BY acknowledgements.at IS NOT NULL, grouped.count DESC, grouped."last" DESC LIMIT ${limit}`)
  return rows.map(({ actor, at, ...group }) => ({
    ...group,
    acknowledgement: actor === null || at === null ? null : { actor, at },
  }))
}

type GroupRow = Omit<FailureGroup, 'acknowledgement'> & { actor: string | null; at: Date | null }
