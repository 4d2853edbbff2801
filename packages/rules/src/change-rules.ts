import type { ServiceEvent } from '@automation/access'
import { type Administrator, type Change, changeWorkspace, listEntries } from '@automation/access'
import type { Database, WorkspaceDatabase, WorkspaceTransaction } from '@automation/database'
import { cancelWaiting, countsOf, isToBePaused, markAutoPaused } from '@automation/ledger'
import { lockRules } from './lock-rules.js'
import { noteStates } from './rule-states.js'

/**
 * Changes a workspace's rules. All changes of rules use this function, and they happen one after another. It increments
 * `rulesVersion`: a worker that meets a higher version than the one it compiled reads the rules again. The rules, the version and
 * the entry in the audit log become visible together, at the commit. A change without an entry changed nothing, and does not
 * increment the version.
 */
export function changeRules<Result>(
  administrator: Administrator,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
  timeoutMs?: number,
): Promise<Result> {
  const work = async (transaction: WorkspaceTransaction) => {
    const changed = await change(transaction)
    if (listEntries(changed).length > 0)
      await transaction.workspace.update({
        where: { id: administrator.workspaceId },
        data: { rulesVersion: { increment: 1 } },
        select: { id: true },
      })
    return changed
  }
  return changeWorkspace(administrator, work, timeoutMs)
}

/**
 * Deactivates rules that have failed as many times in a row as they may (isToBePaused), and marks them as needing
 * attention, until somebody changes or activates them. Workers call this again while executions of a paused rule end. So the first
 * check takes no lock, and the check under the lock decides.
 *
 * @param publish as in Administrator
 * @returns the rules that this call paused
 */
export async function pauseRules(
  database: Database,
  workspaceId: string,
  ruleIds: string[],
  publish: (events: ServiceEvent[]) => void = () => {},
): Promise<string[]> {
  if ((await findPausable(database.forWorkspace(workspaceId), ruleIds)).length === 0) return []
  const administrator = { database, workspaceId, actor: 'system:auto-pause', publish }
  return changeRules<string[]>(administrator, async (transaction) => {
    const pausable = await findPausable(transaction, ruleIds)
    const ids = pausable.map(({ id }) => id)
    if (ids.length === 0) return { result: ids, entry: undefined }
    await lockRules(transaction, workspaceId, ids)
    await transaction.rule.updateMany({
      where: { id: { in: ids } },
      data: { isActive: false, nextRunAt: null },
    })
    await noteStates(transaction, workspaceId, ids)
    const cancelled = await cancelWaiting(transaction, workspaceId, ids, 'The rule was paused')
    await markAutoPaused(transaction, workspaceId, ids)
    const entry = pausable.map(({ id, failures, lastError }) => ({
      action: 'rule.paused' as const,
      subject: id,
      details: { failures, lastError, cancelled: cancelled.get(id) ?? 0 },
    }))
    return { result: ids, entry }
  })
}

/** Finds the active rules among these that have reached the limit of their workspace. */
async function findPausable(database: Pick<WorkspaceDatabase, 'rule'>, ruleIds: string[]) {
  const rules = await database.rule.findMany({
    where: { id: { in: ruleIds }, isActive: true },
    select: {
      id: true,
      counters: { select: { consecutiveFailures: true, lastError: true, attentionReason: true } },
      workspace: { select: { autoPauseAfter: true } },
    },
  })
  return rules.flatMap(({ id, counters, workspace }) => {
    const failures = countsOf(counters).consecutiveFailures
    const isPausable = isToBePaused(failures, workspace.autoPauseAfter, counters?.attentionReason ?? null)
    return isPausable ? { id, failures, lastError: counters?.lastError ?? null } : []
  })
}
