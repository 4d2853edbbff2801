import type { WorkspaceTransaction } from '@automation/database'
import { cancelWaiting, lockCounters } from '@automation/ledger'
import { cancelDifferences } from './backtests/differences.js'
import { keepVersions } from './deleted-versions.js'
import { lockRules } from './lock-rules.js'
import { noteStates } from './rule-states.js'

/**
 * Deletes rules for good, and cancels their waiting executions. Their history stays.
 *
 * @returns how many executions of each rule were cancelled, in the order of the ids
 */
export async function deleteRules(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<number[]> {
  if (ruleIds.length === 0) return []
  await lockRules(transaction, workspaceId, ruleIds)
  const cancelled = await cancelWaiting(transaction, workspaceId, ruleIds, 'The rule was deleted')
  // The counters are deleted with their rules.
  await lockCounters(transaction, workspaceId, ruleIds)
  await noteStates(transaction, workspaceId, ruleIds, true)
  await keepVersions(transaction, workspaceId, ruleIds)
  await transaction.rule.deleteMany({ where: { id: { in: ruleIds } } })
  await cancelDifferences(transaction, ruleIds)
  return ruleIds.map((id) => cancelled.get(id) ?? 0)
}
