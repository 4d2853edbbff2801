import {
  countsOf,
  type Database,
  Prisma,
  type WorkspaceDatabase,
  type WorkspaceTransaction,
} from '@automation/database'
import { type Administrator, type Change, changeWorkspace, listEntries } from './administrator.js'
import type { ServiceEvent } from './service-events.js'

/**
 * Every change of a workspace's rules goes through here, and happens one after another. It counts up `rulesVersion`: a
 * worker that meets a higher version than the one it compiled reads the rules again. Both are seen together, at the
 * commit, and so is the entry in the audit log. A change that has no entry changed nothing, and is not counted.
 */
export function changeRules<Result>(
  administrator: Administrator,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
  patienceMs?: number,
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
  return changeWorkspace(administrator, work, patienceMs)
}

/** Ends the runs of one rule that wait, or of one subscription. @returns how many there were */
export async function cancelWaitingRuns(
  transaction: WorkspaceTransaction,
  { id, workspaceId }: { id: string; workspaceId: string },
  reason: string,
): Promise<number> {
  return (await cancelWaitingRunsOf(transaction, workspaceId, [id], reason)).get(id) ?? 0
}

/**
 * Ends the runs of rules that wait; what a worker has in its hands is left to it. They count neither as a success nor as a
 * failure. A row that is locked is just being taken up, so it is left, too, and nobody waits for anybody's locks.
 *
 * @param reason what each of them tells as its error
 * @returns how many there were of each rule; rules without any are not in it
 */
export async function cancelWaitingRunsOf(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
  reason: string,
): Promise<Map<string, number>> {
  if (ruleIds.length === 0) return new Map()
  // Whatever waits is due at some time. Saying so lets Postgres walk the few that do, and not all that the rules ever ran.
  const rows = await transaction.$queryRaw<{ rule_id: string; runs: number }[]>(Prisma.sql`
    WITH waiting AS (
      SELECT id FROM executions
      WHERE rule_id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
        AND due_at IS NOT NULL AND status IN ('waiting', 'retrying')
      FOR UPDATE SKIP LOCKED
    ),
    cancelled AS (
      UPDATE executions SET status = 'cancelled', error = ${reason}, finished_at = now(), due_at = NULL, lease = NULL
      FROM waiting WHERE executions.id = waiting.id
      RETURNING executions.rule_id
    )
    SELECT rule_id, count(*)::int AS runs FROM cancelled GROUP BY rule_id`)
  return new Map(rows.map(({ rule_id, runs }) => [rule_id, runs]))
}

/**
 * Switches off rules that have failed as many times in a row as their workspace allows (`autoPauseAfter`), and puts them on
 * the list of those that need attention, until somebody changes them or switches them on again. Workers ask again while runs
 * of a paused rule end, so what is not to be paused costs a look and no lock; the look that counts is the one under it.
 *
 * @param announce as of an Administrator
 * @returns the rules that were paused: not those that are not to be paused, or not any more
 */
export async function pauseRules(
  database: Database,
  workspaceId: string,
  ruleIds: string[],
  announce: (events: ServiceEvent[]) => void = () => {},
): Promise<string[]> {
  if ((await findPausable(database.forWorkspace(workspaceId), ruleIds)).length === 0) return []
  const administrator = { database, workspaceId, actor: 'system:auto-pause', announce }
  return changeRules<string[]>(administrator, async (transaction) => {
    const pausable = await findPausable(transaction, ruleIds)
    const ids = pausable.map(({ id }) => id)
    if (ids.length === 0) return { result: ids, entry: undefined }
    const rules = { in: ids }
    await transaction.rule.updateMany({ where: { id: rules }, data: { isActive: false } })
    const cancelled = await cancelWaitingRunsOf(transaction, workspaceId, ids, 'The rule was paused')
    // In the order in which the ledger locks them, or the two could lock each other out.
    await transaction.$queryRaw(Prisma.sql`
      SELECT 1 FROM rule_counters
      WHERE rule_id = ANY (${ids}::uuid[]) AND workspace_id = ${workspaceId}::uuid
      ORDER BY rule_id FOR UPDATE`)
    const data = { attentionReason: 'auto_paused', attentionAt: new Date() }
    await transaction.ruleCounters.updateMany({ where: { ruleId: rules }, data })
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
