import type { ServiceEvent } from '@automation/access'
import { type Administrator, type Change, changeWorkspace, listEntries } from '@automation/access'
import type { Database, WorkspaceDatabase, WorkspaceTransaction } from '@automation/database'
import { cancelWaiting, countsOf, markAutoPaused } from '@automation/ledger'

/**
 * Every change of a workspace's rules goes through here, and happens one after another. It counts up `rulesVersion`: a
 * worker that meets a higher version than the one it compiled reads the rules again. Both are seen together, at the
 * commit, and so is the entry in the audit log. A change that has no entry changed nothing, and is not counted.
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
 * Switches off rules that have failed as many times in a row as their workspace allows (`autoPauseAfter`), and puts them on
 * the list of those that need attention, until somebody changes them or switches them on again. Workers ask again while runs
 * of a paused rule end, so what is not to be paused costs a look and no lock; the look that counts is the one under it.
 *
 * @param publish as of an Administrator
 * @returns the rules that were paused: not those that are not to be paused, or not any more
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
    await transaction.rule.updateMany({ where: { id: { in: ids } }, data: { isActive: false } })
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

/** The active ones among some rules that have come to the bound of their workspace. */
async function findPausable(database: Pick<WorkspaceDatabase, 'rule'>, ruleIds: string[]) {
  const rules = await database.rule.findMany({
    where: { id: { in: ruleIds }, isActive: true },
    select: {
      id: true,
      counters: { select: { consecutiveFailures: true, lastError: true } },
      workspace: { select: { autoPauseAfter: true } },
    },
  })
  return rules.flatMap(({ id, counters, workspace }) => {
    const failures = countsOf(counters).consecutiveFailures
    const isPausable = failures >= (workspace.autoPauseAfter ?? Number.POSITIVE_INFINITY)
    return isPausable ? { id, failures, lastError: counters?.lastError ?? null } : []
  })
}
