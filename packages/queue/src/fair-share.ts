import { type Owned, ownerOf } from '@automation/admission'
import { LRUCache } from 'lru-cache'

/** How many jobs may be added in front: at once, and each second after that. */
interface Share {
  atOnce: number
  perSecond: number
}

const ofWorkspace: Share = { atOnce: 200, perSecond: 50 }
/** All workspaces of one creator together. Without it, a burst over a hundred workspaces would be a hundred times as long. */
const ofCreator: Share = { atOnce: 200, perSecond: 500 }
/** How many executions of a workspace, and of all workspaces of one creator, are in front of those that are due in the same second. */
const dueOfWorkspace = 20
const dueOfCreator = 50

/**
 * The priorities of jobs. BullMQ takes the lowest number first, and jobs of the same number in the order of their arrival. Floods come last, each job behind the one
 * before it.
 */
export const priorities = { front: 0, herd: 1, crowd: 2, flood: 3 } as const
/** A flood beyond it is in the order of arrival again. One of events in a workspace is forgotten 200 s after it has ended. */
const longestFlood = 10_000
const maxOwners = 20_000

interface Level {
  /** Jobs added, less those that have leaked since. */
  jobs: number
  /** ms, by the clock `now`. */
  at: number
}

/**
 * Creates a function that finds the priority of the next event's job:
 *
 * - front: in the order of arrival, while its workspace and its creator are within their shares
 * - crowd: while the workspaces of its creator together exceed their share. It waits behind other creators, and in front of floods.
 * - flood: while its workspace exceeds its own share. So a flood waits behind the jobs of all others, and floods take turns.
 *
 * @param now ms, by a monotonic clock: a clock that is set back would count as a flood
 */
export function createFairShare(now: () => number = () => performance.now()): (event: Owned) => number {
  const countWorkspace = createBuckets(ofWorkspace, now)
  const countCreator = createBuckets(ofCreator, now)
  return (event) => {
    const excess = countWorkspace(event.workspaceId)
    if (excess > 0) return priorities.flood + excess - 1
    return countCreator(ownerOf(event)) > 0 ? priorities.crowd : priorities.front
  }
}

/**
 * Creates a function that finds the priority of the next job that resumes an execution. Thousands may be due at the same moment: pauses that end together, or
 * all mails that waited for a mail server. The first of each second are in front. The others of a creator are a herd, which waits behind what comes
 * from outside, and what a workspace has beyond its own share is a flood.
 *
 * @param now ms, of the clock of `dueAt`
 */
export function createDueShare(now: () => number = Date.now): (execution: Owned, dueAt: number) => number {
  const countWorkspace = createCounts(dueOfWorkspace)
  const countCreator = createCounts(dueOfCreator)
  return (execution, dueAt) => {
    const second = Math.floor(Math.max(dueAt, now()) / 1_000)
    const excess = countWorkspace(execution.workspaceId, second)
    if (excess > 0) return priorities.flood + excess - 1
    return countCreator(ownerOf(execution), second) > 0 ? priorities.herd : priorities.front
  }
}

/**
 * Creates leaky buckets, one for each owner, in the memory of this process: nothing is left over when a process dies or Redis is wiped, and they
 * decide only when a job runs, not whether.
 *
 * @returns a function that counts one more job of an owner, and returns by how many jobs the owner exceeds its share
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
    level.jobs = Math.min(left + 1, atOnce + longestFlood)
    level.at = at
    return Math.max(0, Math.ceil(level.jobs - atOnce))
  }
}

/** The same for the jobs of one second: they may be added long before it, and in any order. */
function createCounts(share: number): (owner: string, second: number) => number {
  const counts = new LRUCache<string, { jobs: number }>({ max: maxOwners })
  return (owner, second) => {
    const key = `${second} ${owner}`
    const count = counts.get(key) ?? { jobs: 0 }
    if (count.jobs === 0) counts.set(key, count)
    count.jobs = Math.min(count.jobs + 1, share + longestFlood)
    return Math.max(0, count.jobs - share)
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
