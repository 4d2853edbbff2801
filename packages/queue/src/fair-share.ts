import { LRUCache } from 'lru-cache'

/** How many jobs a workspace may add at the highest priority: at once, and each second after that. */
const burst = 200
const perSecond = 50
/**
 * The same for what its rules have caused, such as an event that a rule emitted. No request limits it: a single one could fill the whole
 * burst of its workspace in one moment.
 */
export const burstOfCaused = 20
/** The lowest priority. A flood beyond it is in the order of arrival again, and forgotten 200 s after it has ended. */
const lowestPriority = 10_000
const maxWorkspaces = 20_000

interface Level {
  /** Jobs added, less those that have leaked since. */
  jobs: number
  /** ms, by the clock `now`. */
  at: number
}

/**
 * Creates a function that finds the priority of a workspace's next job: 0, the highest, in the order of arrival, for a workspace
 * within its burst; a lower one the more jobs it has added lately. So a flood of one workspace waits behind the jobs of the others,
 * and floods of several take turns.
 *
 * It is a leaky bucket for each workspace, in the memory of this process: nothing is left over when a process dies or Redis is
 * wiped, and it decides only when a job runs, not whether.
 *
 * @param now ms, by a monotonic clock: a clock that is set back would count as a flood
 */
export function createFairShare(
  now: () => number = () => performance.now(),
): (workspaceId: string, burstOfJob?: number) => number {
  const levels = new LRUCache<string, Level>({ max: maxWorkspaces })
  return (workspaceId, burstOfJob = burst) => {
    const at = now()
    const level = levels.get(workspaceId)
    if (level === undefined) {
      levels.set(workspaceId, { jobs: 1, at })
      return 0
    }
    const left = Math.max(0, level.jobs - ((at - level.at) / 1_000) * perSecond)
    level.jobs = Math.min(left + 1, burst + lowestPriority)
    level.at = at
    return Math.max(0, Math.ceil(level.jobs - burstOfJob))
  }
}
