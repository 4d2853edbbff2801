import { type Owned, ownerOf } from '@automation/admission'
import { LRUCache } from 'lru-cache'

/** So many jobs of one owner are in the order of arrival: at once, and each second after that. */
const atOnce = 200
const perSecond = 100
/** What is beyond so many more is in the order of arrival again. */
const longestBacklog = 10_000
const maxOwners = 20_000

interface Level {
  /** Jobs added, less those that have leaked since. */
  jobs: number
  /** ms, by the clock. */
  at: number
}

/**
 * Creates a function that finds the priority of an owner's next job: 0, in the order of arrival, or the length of the backlog that the owner adds. BullMQ takes
 * the lowest number first. So a backlog waits behind the jobs of all others, and backlogs take turns, job by job.
 *
 * It is counted in the memory of this process: nothing is left over when a process dies or Redis is wiped, and it decides only when a job runs, not whether.
 *
 * @param now ms, by a monotonic clock: a clock that is set back would count as a backlog
 */
export function createFairShare(now: () => number = () => performance.now()): (work: Owned) => number {
  const levels = new LRUCache<string, Level>({ max: maxOwners })
  return (work) => {
    const owner = ownerOf(work)
    const at = now()
    const level = levels.get(owner) ?? { jobs: 0, at }
    const left = Math.max(0, level.jobs - ((at - level.at) / 1_000) * perSecond)
    const jobs = Math.min(left + 1, atOnce + longestBacklog)
    levels.set(owner, { jobs, at })
    return Math.max(0, Math.ceil(jobs - atOnce))
  }
}
