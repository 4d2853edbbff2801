import { Prisma, type WorkspaceTransaction, writeJson } from '@automation/database'
import type { MadeDecision } from '@automation/engine'
import { type StoredDecision, type WokenExecution, wokenColumnsSql } from '../waits/open-wait.js'

/** Keeps others from deciding until the transaction ends. */
export async function lockDecision(
  transaction: Pick<WorkspaceTransaction, '$queryRaw'>,
  workspaceId: string,
  executionId: string,
): Promise<void> {
  await transaction.$queryRaw(Prisma.sql`
    SELECT 1 FROM executions WHERE id = ${executionId}::uuid AND workspace_id = ${workspaceId}::uuid FOR NO KEY UPDATE`)
}

interface Row extends WokenExecution {
  decision: StoredDecision
  isWoken: boolean
}

/**
 * Records a decision, and makes the execution due if it waits for it. If its WAIT is not reached, the step that reaches it does (record-steps.ts).
 * The moment is that of the statement, which holds the row since lockDecision: a worker that claims the execution after the time sees the decision, however long
 * the commit takes.
 *
 * @param row as it was read after lockDecision, in the same transaction
 * @returns undefined where the time is over by now
 */
export async function recordDecision(
  transaction: Pick<WorkspaceTransaction, '$queryRaw'>,
  workspaceId: string,
  { id, until }: { id: string; until: Date | null },
  made: MadeDecision,
): Promise<{ decision: StoredDecision; woken: WokenExecution | undefined } | undefined> {
  const [row] = await transaction.$queryRaw<Row[]>(Prisma.sql`
    WITH moments AS (SELECT clock_timestamp()::timestamptz(3) AS at)
    UPDATE executions
    SET decision = (${writeJson(made)}::jsonb || jsonb_build_object(
          'at', to_char(moments.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::json,
        due_at = CASE WHEN status = 'waiting' AND wait_key = id THEN now() ELSE due_at END
    FROM moments
    WHERE id = ${id}::uuid AND workspace_id = ${workspaceId}::uuid AND decision IS NULL AND due_at IS NOT NULL
      AND moments.at <= coalesce(${until}::timestamptz, 'infinity')
    RETURNING decision, status = 'waiting' AND wait_key = id AS "isWoken", ${Prisma.raw(wokenColumnsSql)}`)
  if (row === undefined) return undefined
  const { decision, isWoken, ...woken } = row
  return { decision, woken: isWoken ? woken : undefined }
}
