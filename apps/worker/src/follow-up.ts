import { pauseRules } from '@automation/administration'
import type { Database } from '@automation/database'
import type { EventQueue } from '@automation/inbox'
import type { Logger } from 'pino'
import type { FollowUps } from './returned-rows.js'

/** So many jobs are added at once (50 ms); the sweeper adds the others, at its pace. */
const maxJobs = 500

/**
 * What a worker does after a commit of the ledger, beside its runs: it adds the jobs of service events, best effort, since the
 * sweeper adds those that are missing; and it pauses the rules that have come to their bound. Nobody waits for it.
 *
 * A workspace has one pause under way at a time. Its rules that come to their bound meanwhile are paused together, so however
 * many runs fail, they cost few statements, and no workspace waits for another.
 */
export function createFollowUp(database: Database, queue: EventQueue, log: Logger) {
  /** By workspace, while a pause of it is under way: the rules that are next. */
  const pausing = new Map<string, Set<string>>()

  return ({ serviceEvents, failingRules }: FollowUps): void => {
    addJobs(serviceEvents)
    for (const { workspaceId, ruleId } of failingRules) {
      const next = pausing.get(workspaceId)
      if (next) next.add(ruleId)
      else void pauseAll(workspaceId, ruleId)
    }
  }

  function addJobs(events: FollowUps['serviceEvents']): void {
    for (const event of events.slice(0, maxJobs)) queue.addAlone(event).catch(() => {})
  }

  async function pauseAll(workspaceId: string, ruleId: string): Promise<void> {
    let ruleIds = [ruleId]
    pausing.set(workspaceId, new Set())
    // Those of one commit are paused together.
    await Promise.resolve()
    while (ruleIds.length > 0) {
      ruleIds.push(...takeNext(workspaceId))
      await pause(workspaceId, ruleIds)
      ruleIds = takeNext(workspaceId)
    }
    pausing.delete(workspaceId)
  }

  function takeNext(workspaceId: string): string[] {
    const next = [...(pausing.get(workspaceId) ?? [])]
    pausing.set(workspaceId, new Set())
    return next
  }

  async function pause(workspaceId: string, ruleIds: string[]): Promise<void> {
    try {
      const paused = await pauseRules(database, workspaceId, ruleIds, addJobs)
      if (paused.length > 0) log.info({ workspaceId, ruleIds: paused }, 'paused rules that keep failing')
    } catch (error) {
      const fields = { err: error, workspaceId, ruleIds }
      log.warn(fields, 'rules could not be paused; the next failure of each tries again')
    }
  }
}
