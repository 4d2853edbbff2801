import { Prisma, type UnscopedSql, type WorkspaceTransaction } from '@automation/database'
import { cancelledByHand, type ExecutionStatus } from '../statuses.js'
import { countMatches, type Matches } from './count-matches.js'
import { joinNarrowing, type Narrowing } from './narrowing.js'

/**
 * Ends executions that no worker holds, and marks the others: their workers end them at their next step (record-steps.ts), or when they are
 * claimed again. So the attempt that is in progress is recorded, and nothing begins after it.
 */
const cancellation = Prisma.sql`
  cancel_requested = true,
  status = CASE WHEN lease IS NULL THEN 'cancelled' ELSE status END,
  error = CASE WHEN lease IS NULL THEN ${cancelledByHand} ELSE error END,
  finished_at = CASE WHEN lease IS NULL THEN now() END,
  due_at = CASE WHEN lease IS NOT NULL THEN due_at END`

/**
 * Cancels an execution that is not finished.
 *
 * @returns its status after that: cancelled, or running where a worker holds it. undefined where it is finished, does not exist, or was
 * cancelled before
 */
export async function cancelExecution(
  transaction: Pick<WorkspaceTransaction, '$queryRaw'>,
  workspaceId: string,
  id: string,
): Promise<ExecutionStatus | undefined> {
  const [row] = await transaction.$queryRaw<{ status: ExecutionStatus }[]>(Prisma.sql`
    UPDATE executions SET ${cancellation}
    WHERE id = ${id}::uuid AND workspace_id = ${workspaceId}::uuid AND due_at IS NOT NULL AND cancel_requested IS NULL
    RETURNING status::text AS status`)
  return row?.status
}

/**
 * Cancels executions that wait, the oldest first. A row that is locked is most likely being claimed: it is left out.
 *
 * @param narrowing to executions that wait or retry
 * @returns how many were cancelled
 */
export function cancelMany(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  narrowing: Narrowing,
  limit: number,
): Promise<number> {
  return transaction.$executeRaw(Prisma.sql`
    WITH chosen_executions AS MATERIALIZED (
      SELECT executions.id FROM executions WHERE ${joinNarrowing(narrowing)}
      ORDER BY executions.id LIMIT ${limit} FOR UPDATE OF executions SKIP LOCKED
    )
    UPDATE executions SET ${cancellation} FROM chosen_executions
    WHERE executions.id = chosen_executions.id AND executions.workspace_id = ${workspaceId}::uuid`)
}

export function countCancellable(database: UnscopedSql, narrowing: Narrowing): Promise<Matches> {
  return countMatches(database, Prisma.sql`executions WHERE ${joinNarrowing(narrowing)}`)
}
