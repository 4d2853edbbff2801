import { clockSkewMs, Prisma } from '@automation/database'

export const dayMs = 24 * 60 * 60 * 1_000

/**
 * Events and executions of a workspace that ended before this time (epoch ms) are old. Of a row of `workspaces`; null: never.
 *
 * @param now epoch ms @param defaultDays for workspaces without a setting; 0: for ever
 */
export function oldBeforeSql(now: number, defaultDays: number): Prisma.Sql {
  return Prisma.sql`
    ${now - clockSkewMs}::bigint - coalesce(retention_days, nullif(${defaultDays}::int, 0)) * ${dayMs}::bigint`
}

/**
 * The events whose executions keep them, whatever their age: one of them is unfinished or has ended recently, or acts for the event in a batch, where a
 * retry could begin again. Reads `ages (workspace_id, ended_before)`.
 *
 * @param isInScope of a row of `executions`
 * @param isOpen of a row of `batches`: another reason for it to keep its events
 */
export function keepingExecutionsSql(isInScope: Prisma.Sql, isOpen = Prisma.sql`FALSE`): Prisma.Sql {
  return Prisma.sql`
    SELECT executions.event_id FROM executions JOIN ages ON ages.workspace_id = executions.workspace_id
    WHERE ${isInScope} AND (executions.finished_at < ages.ended_before) IS NOT TRUE
    UNION ALL
    SELECT executions.event_id FROM executions JOIN ages ON ages.workspace_id = executions.workspace_id
    JOIN key_claims ON key_claims.execution_id = executions.id
    JOIN executions AS batches ON batches.id = key_claims.batch_id
    WHERE ${isInScope} AND executions.status = 'suppressed'
      AND ((batches.finished_at < ages.ended_before) IS NOT TRUE OR ${isOpen})`
}
