import { Prisma, type WorkspaceDatabase, type WorkspaceTransaction } from '@automation/database'
import { groupedErrorLength } from './group-failures.js'

/** What somebody acknowledged: the failures of a rule with an error, until a time. */
export interface Acknowledged {
  ruleId: string
  /** The beginning of the error, as a group of failures has it. */
  error: string
  until: Date
  at: Date
}

/**
 * Acknowledges a failed execution and what failed before it, of the same rule with the same error. What fails later is news.
 *
 * @returns undefined if there is no such execution, or it did not fail
 */
export async function acknowledge(
  transaction: WorkspaceTransaction,
  { workspaceId, executionId, actor }: { workspaceId: string; executionId: string; actor: string },
): Promise<Acknowledged | undefined> {
  const [acknowledged] = await transaction.$queryRaw<Acknowledged[]>(Prisma.sql`
    INSERT INTO acknowledgements AS known (workspace_id, rule_id, error, until, actor)
    SELECT workspace_id, rule_id, left(coalesce(error, ''), ${groupedErrorLength}), finished_at, ${actor}
    FROM executions
    WHERE workspace_id = ${workspaceId}::uuid AND id = ${executionId}::uuid AND status = 'failed'
    ON CONFLICT (workspace_id, rule_id, error) DO UPDATE
    SET until = greatest(known.until, excluded.until), actor = excluded.actor, at = excluded.at
    RETURNING rule_id AS "ruleId", error, until, at`)
  return acknowledged
}

/** Takes back what was acknowledged of the rule and the error of an execution. @returns undefined if nothing was */
export async function unacknowledge(
  transaction: WorkspaceTransaction,
  { workspaceId, executionId }: { workspaceId: string; executionId: string },
): Promise<{ ruleId: string; error: string } | undefined> {
  const [removed] = await transaction.$queryRaw<{ ruleId: string; error: string }[]>(Prisma.sql`
    DELETE FROM acknowledgements AS known USING executions
    WHERE executions.workspace_id = ${workspaceId}::uuid AND executions.id = ${executionId}::uuid
      AND known.workspace_id = executions.workspace_id AND known.rule_id = executions.rule_id
      AND known.error = left(coalesce(executions.error, ''), ${groupedErrorLength})
    RETURNING known.rule_id AS "ruleId", known.error`)
  return removed
}

/** Which of these rules failed last in a way that somebody has acknowledged since. */
export async function findAcknowledged(
  database: WorkspaceDatabase,
  counters: readonly { ruleId: string; lastError: string | null; lastFailureAt: Date | null }[],
): Promise<Set<string>> {
  const failed = counters.flatMap(({ ruleId, lastError, lastFailureAt }) =>
    lastFailureAt === null ? [] : [{ ruleId, error: cut(lastError ?? ''), until: { gte: lastFailureAt } }],
  )
  if (failed.length === 0) return new Set()
  const rows = await database.acknowledgement.findMany({ where: { OR: failed }, select: { ruleId: true } })
  return new Set(rows.map(({ ruleId }) => ruleId))
}

/** As Postgres cuts it: by characters, some of which are two units of a string. */
function cut(error: string): string {
  return [...error.slice(0, 2 * groupedErrorLength)].slice(0, groupedErrorLength).join('')
}
