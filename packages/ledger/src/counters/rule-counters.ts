import { Prisma, postgresNow, type WorkspaceTransaction } from '@automation/database'

/** Creates the counters of new rules. */
export async function createCounters(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<void> {
  await transaction.ruleCounters.createMany({ data: ruleIds.map((ruleId) => ({ ruleId, workspaceId })) })
}

/** Locks counters in the order of their rules' ids, as every statement of the ledger does: two of them never wait for each other. */
export async function lockCounters(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<void> {
  await transaction.$queryRaw(Prisma.sql`
    SELECT 1 FROM rule_counters
    WHERE rule_id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
    ORDER BY rule_id FOR UPDATE`)
}

/** Notes that rules were paused because they kept failing. A reason that says why they failed stays. */
export async function markAutoPaused(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<void> {
  await lockCounters(transaction, workspaceId, ruleIds)
  const data = { attentionReason: 'auto_paused', attentionAt: new Date(postgresNow()) }
  await transaction.ruleCounters.updateMany({
    where: {
      ruleId: { in: ruleIds },
      OR: [{ attentionReason: null }, { attentionReason: { notIn: ['work_budget', 'worker_crashes'] } }],
    },
    data,
  })
}

/**
 * Clears the attention of rules that somebody has changed or switched on, and the crashes that they were charged with.
 *
 * @param switchedOn those of them whose failures in a row are counted from 0 again
 */
export async function clearAttention(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
  switchedOn: string[],
): Promise<void> {
  if (ruleIds.length === 0) return
  await transaction.$executeRaw(Prisma.sql`
    WITH locked_counters AS (
      SELECT rule_id FROM rule_counters
      WHERE rule_id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
      ORDER BY rule_id FOR UPDATE
    ),
    forgotten_crashes AS (
      DELETE FROM rule_crashes WHERE rule_id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
    )
    UPDATE rule_counters AS counters SET
      attention_reason = NULL,
      attention_at = NULL,
      consecutive_failures =
        CASE WHEN counters.rule_id = ANY (${switchedOn}::uuid[]) THEN 0 ELSE counters.consecutive_failures END
    FROM locked_counters
    WHERE counters.rule_id = locked_counters.rule_id AND counters.workspace_id = ${workspaceId}::uuid`)
}
