import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { cancelWaitingRunsOf } from './rules.js'

/**
 * Deletes rules for good, and cancels what waits. Their history stays.
 *
 * @returns how many runs were cancelled of each, in the order of the ids
 */
export async function deleteRules(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<number[]> {
  if (ruleIds.length === 0) return []
  const cancelled = await cancelWaitingRunsOf(transaction, workspaceId, ruleIds, 'The rule was deleted')
  // The counters go with their rules: taken in the order in which the ledger takes them, or the two could lock each other out.
  await transaction.$queryRaw(Prisma.sql`
    SELECT 1 FROM rule_counters
    WHERE rule_id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
    ORDER BY rule_id FOR UPDATE`)
  await transaction.rule.deleteMany({ where: { id: { in: ruleIds } } })
  return ruleIds.map((id) => cancelled.get(id) ?? 0)
}
