import { Prisma, type WorkspaceTransaction } from '@automation/database'

/**
 * Cancels the executions of rules that wait, or the deliveries to subscriptions, whose ids are in `rule_id` as well (addressee.ts).
 * Executions that a worker holds are left to it. A locked row is being claimed at this moment, so it is left as well, and nobody
 * waits for a lock.
 *
 * `due_at IS NOT NULL` holds for every waiting execution. It lets Postgres read the index of unfinished executions instead of all
 * that the rules ever ran.
 *
 * @param reason becomes the error of each execution
 * @returns the number of executions by rule; rules without any are left out
 */
export async function cancelWaiting(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
  reason: string,
): Promise<Map<string, number>> {
  if (ruleIds.length === 0) return new Map()
  const rows = await transaction.$queryRaw<{ ruleId: string; count: number }[]>(Prisma.sql`
    WITH waiting_executions AS (
      SELECT id FROM executions
      WHERE rule_id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
        AND due_at IS NOT NULL AND status IN ('waiting', 'retrying')
      FOR UPDATE SKIP LOCKED
    ),
    cancelled_executions AS (
      UPDATE executions SET status = 'cancelled', error = ${reason}, finished_at = now(), due_at = NULL, lease = NULL
      FROM waiting_executions WHERE executions.id = waiting_executions.id
      RETURNING executions.rule_id
    )
    SELECT rule_id AS "ruleId", count(*)::int AS count FROM cancelled_executions GROUP BY rule_id`)
  return new Map(rows.map(({ ruleId, count }) => [ruleId, count]))
}
