import { pauseRules } from '@automation/administration'
import { type Database, groupCommit } from '@automation/database'
import type { EventQueue } from '@automation/inbox'
import type { Logger } from 'pino'
import type { FailingRule, FollowUps } from './returned-rows.js'

/**
 * What a worker does after a commit of the ledger, beside its runs: it adds the jobs of service events, best effort, since the
 * sweeper adds those that are missing; and it pauses the rules that have come to their bound. Nobody waits for it.
 *
 * One pause is under way at a time. Rules that come to their bound meanwhile are paused together, so however many runs fail,
 * they cost few statements.
 */
export function createFollowUp(database: Database, queue: EventQueue, log: Logger) {
  const pause = groupCommit(async (rules: FailingRule[]) => {
    const ruleIds = new Map<string, Set<string>>()
    for (const { workspaceId, ruleId } of rules)
      ruleIds.set(workspaceId, (ruleIds.get(workspaceId) ?? new Set()).add(ruleId))
    for (const [workspaceId, ids] of ruleIds) await pauseOf(workspaceId, [...ids])
    return rules
  })

  return ({ serviceEvents, failingRules }: FollowUps): void => {
    addJobs(serviceEvents)
    for (const rule of failingRules) void pause(rule)
  }

  function addJobs(events: FollowUps['serviceEvents']): void {
    for (const event of events) queue.addAlone(event).catch(() => {})
  }

  async function pauseOf(workspaceId: string, ruleIds: string[]): Promise<void> {
    try {
      const paused = await pauseRules(database, workspaceId, ruleIds, addJobs)
      if (paused.length > 0) log.info({ workspaceId, ruleIds: paused }, 'paused rules that keep failing')
    } catch (error) {
      const fields = { err: error, workspaceId, ruleIds }
      log.warn(fields, 'rules could not be paused; the next failure of each tries again')
    }
  }
}
