import { LRUCache } from 'lru-cache'

/** How many jobs may be added at the highest priority: at once, and each second after that. */
interface Share {
  atOnce: number
  perSecond: number
}

const ofWorkspace: Share = { atOnce: 200, perSecond: 50 }
/** All workspaces of one creator together: no number of workspaces makes a burst longer, and steady traffic of many is within it. */
const ofCreator: Share = { atOnce: 200, perSecond: 500 }
/** Executions that are due, of a workspace and of all together: a worker resumes so many in 0.1 s. */
const ofDue: Share = { atOnce: 20, perSecond: 50 }
/** The lowest priority. A flood beyond it is in the order of arrival again, and a workspace's is forgotten 200 s after it has ended. */
const lowestPriority = 10_000
const maxOwners = 20_000

interface Level {
  /** Jobs added, less those that have leaked since. */
  jobs: number
  /** ms, by the clock `now`. */
  at: number
}

/**
 * Creates a function that finds the priority of a workspace's next job: 0, the highest, in the order of arrival, for a workspace
 * within its share; a lower one the more jobs it has added lately. So a flood of one workspace waits behind the jobs of the others,
 * and floods of several take turns. Where all workspaces of a creator are beyond their common share, each job has the second highest at
 * most: it waits behind those of other creators, and still in front of the floods.
 *
 * @param now ms, by a monotonic clock: a clock that is set back would count as a flood
 */
export function createFairShare(
  now: () => number = () => performance.now(),
): (workspaceId: string, createdBy?: string | null) => number {
  const countWorkspace = createBuckets(ofWorkspace, now)
  const countCreator = createBuckets(ofCreator, now)
  return (workspaceId, createdBy = null) => {
    const own = countWorkspace(workspaceId)
    return createdBy === null ? own : Math.max(own, Math.min(countCreator(createdBy), 1))
  }
}

/**
 * Creates a function that finds the priority of the next job that resumes an execution of a workspace. Thousands may be due at the same moment:
 * pauses that end together, or all mails that waited for a mail server. A few have the highest priority, and the others run after what comes
 * from outside, for which somebody may wait. Each workspace has a share of its own, so it does not wait for the herd of another.
 *
 * @param now ms, by a monotonic clock
 */
export function createDueShare(now: () => number = () => performance.now()): (workspaceId: string) => number {
  const countWorkspace = createBuckets(ofDue, now)
  const countAll = createBuckets(ofDue, now)
  return (workspaceId) => Math.max(countWorkspace(workspaceId), Math.min(countAll('all'), 1))
}

/**
 * Creates leaky buckets, one for each owner, in the memory of this process: nothing is left over when a process dies or Redis is wiped, and they
 * decide only when a job runs, not whether.
 *
 * @returns a function that counts a job of an owner, and tells how far it is beyond its share
 */
function createBuckets({ atOnce, perSecond }: Share, now: () => number): (owner: string) => number {
  const levels = new LRUCache<string, Level>({ max: maxOwners })
  return (owner) => {
    const at = now()
    const level = levels.get(owner)
    if (level === undefined) {
      levels.set(owner, { jobs: 1, at })
      return 0
    }
    const left = Math.max(0, level.jobs - ((at - level.at) / 1_000) * perSecond)
    level.jobs = Math.min(left + 1, atOnce + lowestPriority)
    level.at = at
    return Math.max(0, Math.ceil(level.jobs - atOnce))
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
  const turns = new LRUCache<string, number>({ max: maxOwners })
  return (workspaceId, events) => {
    const earliest = now() - (causedAtOnce * 1_000) / causedPerSecond
    const next = Math.max(turns.get(workspaceId) ?? earliest, earliest) + (events * 1_000) / causedPerSecond
    const turn = Math.min(next, now() + longestDelayMs)
    turns.set(workspaceId, turn)
    return Math.max(0, Math.ceil(turn - now()))
  }
}
