import { LRUCache } from 'lru-cache'

/** How many jobs a workspace may add at the highest priority: at once, and each second after that. */
const burst = 200
const perSecond = 50
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
 * within its share; a lower one the more jobs it has added lately. So a flood of one workspace waits behind the jobs of the others,
 * and floods of several take turns.
 *
 * It is a leaky bucket for each workspace, in the memory of this process: nothing is left over when a process dies or Redis is
 * wiped, and it decides only when a job runs, not whether.
 *
 * @param now ms, by a monotonic clock: a clock that is set back would count as a flood
 */
export function createFairShare(
  now: () => number = () => performance.now(),
): (workspaceId: string) => number {
  const levels = new LRUCache<string, Level>({ max: maxWorkspaces })
  return (workspaceId) => {
    const at = now()
    const level = levels.get(workspaceId)
    if (level === undefined) {
      levels.set(workspaceId, { jobs: 1, at })
      return 0
    }
    const left = Math.max(0, level.jobs - ((at - level.at) / 1_000) * perSecond)
    level.jobs = Math.min(left + 1, burst + lowestPriority)
    level.at = at
    return Math.max(0, Math.ceil(level.jobs - burst))
  }
}

/** How many events that its rules have caused a workspace may add: at once, as many as one rule has actions, and each second after that. */
const causedAtOnce = 20
const causedPerSecond = 200
/** The longest delay (ms): what is later than 10 s counts as late, and what fails to be added must not delay what comes after it. */
const longestDelayMs = 5_000

/**
 * Creates a function that finds for how long (ms) the next job of what the rules of a workspace have caused is delayed, with so many events. No rate
 * limit reaches these events: a single request to a rule that emits its own type could fill all workers with a thousand of them. A priority does not help
 * the others then, because it decides only who gets the next free slot.
 *
 * It is kept in the memory of this process, as the fair share is.
 *
 * @param now ms, by a monotonic clock
 */
export function createPace(
  now: () => number = () => performance.now(),
): (workspaceId: string, events: number) => number {
  /** When the last event would begin in an even pace (ms): its job begins then. */
  const turns = new LRUCache<string, number>({ max: maxWorkspaces })
  return (workspaceId, events) => {
    const earliest = now() - (causedAtOnce * 1_000) / causedPerSecond
    const next = Math.max(turns.get(workspaceId) ?? earliest, earliest) + (events * 1_000) / causedPerSecond
    const turn = Math.min(next, now() + longestDelayMs)
    turns.set(workspaceId, turn)
    return Math.max(0, Math.ceil(turn - now()))
  }
}
