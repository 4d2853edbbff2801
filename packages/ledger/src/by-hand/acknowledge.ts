import { Prisma, type WorkspaceTransaction } from '@automation/database'

/** The length of a search for an error: longer errors are the same if they begin alike. */
export const groupedErrorLength = 200

/** What somebody acknowledged: the failures of a rule with an error, until a time. */
export interface Acknowledged {
  handlerId: string
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
    INSERT INTO acknowledgements AS known (workspace_id, handler_id, error, until, actor)
    SELECT workspace_id, handler_id, left(coalesce(error, ''), ${groupedErrorLength}), finished_at, ${actor}
    FROM executions
    WHERE workspace_id = ${workspaceId}::uuid AND id = ${executionId}::uuid AND status = 'failed'
    ON CONFLICT (workspace_id, handler_id, error) DO UPDATE
    SET until = greatest(known.until, excluded.until), actor = excluded.actor, at = excluded.at
    RETURNING handler_id AS "handlerId", error, until, at`)
  return acknowledged
}

/** Takes back what was acknowledged of the rule and the error of an execution. @returns undefined if nothing was */
export async function unacknowledge(
  transaction: WorkspaceTransaction,
  { workspaceId, executionId }: { workspaceId: string; executionId: string },
): Promise<{ handlerId: string; error: string } | undefined> {
  const [removed] = await transaction.$queryRaw<{ handlerId: string; error: string }[]>(Prisma.sql`
    DELETE FROM acknowledgements AS known USING executions
    WHERE executions.workspace_id = ${workspaceId}::uuid AND executions.id = ${executionId}::uuid
      AND known.workspace_id = executions.workspace_id AND known.handler_id = executions.handler_id
      AND known.error = left(coalesce(executions.error, ''), ${groupedErrorLength})
    RETURNING known.handler_id AS "handlerId", known.error`)
  return removed
}
