import { Prisma, type WorkspaceTransaction } from '@automation/database'

/**
 * Locks rules in the order of their ids, and before their counters, as every statement of the ledger does: two of them never wait for each
 * other. A change that may switch a rule off holds this lock when it cancels what waits (cancelWaiting): whatever would wait for the rule is
 * committed before that, or sees the change.
 */
export async function lockRules(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<void> {
  await transaction.$queryRaw(Prisma.sql`
    SELECT 1 FROM rules
    WHERE id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
    ORDER BY id FOR NO KEY UPDATE`)
}
