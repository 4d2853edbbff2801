import {
  type Database,
  Prisma,
  type WorkspaceDatabase,
  type WorkspaceTransaction,
} from '@automation/database'
import { type Administrator, type Change, changeWorkspace } from './administrator.js'

/**
 * Every change of a workspace's rules goes through here, and happens one after another. It counts up `rulesVersion`: a
 * worker that meets a higher version than the one it compiled reads the rules again. Both are seen together, at the
 * commit, and so is the entry in the audit log. A change that has no entry changed nothing, and is not counted.
 */
export function changeRules<Result>(
  administrator: Administrator,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
): Promise<Result> {
  return changeWorkspace(administrator, async (transaction) => {
    const changed = await change(transaction)
    if (changed.entry)
      await transaction.workspace.update({
        where: { id: administrator.workspaceId },
        data: { rulesVersion: { increment: 1 } },
        select: { id: true },
      })
    return changed
  })
}

/**
 * Ends the runs of a rule that wait; what a worker has in its hands is left to it. They count neither as a success nor as a
 * failure. A row that is locked is just being taken up, so it is left, too, and nobody waits for anybody's locks.
 *
 * @param reason what each of them tells as its error
 * @returns how many there were
 */
export function cancelWaitingRuns(
  transaction: WorkspaceTransaction,
  rule: { id: string; workspaceId: string },
  reason: string,
): Promise<number> {
  // Whatever waits is due at some time. Saying so lets Postgres walk the few that do, and not all that the rule ever ran.
  return transaction.$executeRaw(Prisma.sql`
    WITH waiting AS (
      SELECT id FROM executions
      WHERE rule_id = ${rule.id}::uuid AND workspace_id = ${rule.workspaceId}::uuid
        AND due_at IS NOT NULL AND status IN ('waiting', 'retrying')
      FOR UPDATE SKIP LOCKED
    )
    UPDATE executions SET status = 'cancelled', error = ${reason}, finished_at = now(), due_at = NULL, lease = NULL
    FROM waiting WHERE executions.id = waiting.id`)
}

/**
 * Switches off a rule that has failed as many times in a row as its workspace allows (`autoPauseAfter`), and puts it on
 * the list of those that need attention, until somebody changes it or switches it on again. Workers ask after each failed
 * run, so what is not to be paused costs a look and no lock; the look that counts is the one under it.
 *
 * @returns false where the rule is not to be paused, or not any more
 */
export async function pauseRule(database: Database, workspaceId: string, ruleId: string): Promise<boolean> {
  if ((await findPausable(database.forWorkspace(workspaceId), ruleId)) === undefined) return false
  const administrator = { database, workspaceId, actor: 'system:auto-pause' }
  return changeRules<boolean>(administrator, async (transaction) => {
    const counters = await findPausable(transaction, ruleId)
    if (counters === undefined) return { result: false, entry: undefined }
    await transaction.rule.update({ where: { id: ruleId }, data: { isActive: false }, select: { id: true } })
    const cancelled = await cancelWaitingRuns(transaction, { id: ruleId, workspaceId }, 'The rule was paused')
    await transaction.ruleCounters.update({
      where: { ruleId },
      data: { attentionReason: 'auto_paused', attentionAt: new Date() },
      select: { ruleId: true },
    })
    const details = { failures: counters.consecutiveFailures, lastError: counters.lastError, cancelled }
    return { result: true, entry: { action: 'rule.paused', subject: ruleId, details } }
  })
}

/** The counters of an active rule that has come to the bound of its workspace. */
async function findPausable(database: Pick<WorkspaceDatabase, 'rule'>, ruleId: string) {
  const rule = await database.rule.findUnique({
    where: { id: ruleId },
    select: {
      isActive: true,
      counters: { select: { consecutiveFailures: true, lastError: true } },
      workspace: { select: { autoPauseAfter: true } },
    },
  })
  const bound = rule?.workspace.autoPauseAfter ?? Number.POSITIVE_INFINITY
  const isPausable = rule?.isActive === true && (rule.counters?.consecutiveFailures ?? 0) >= bound
  return isPausable ? (rule.counters ?? undefined) : undefined
}
