import { LRUCache } from 'lru-cache'

/** What a workspace may put on the belt without having to stand back: at once, and each second after that. */
const burst = 200
const perSecond = 50
/** From there on a flood is in the order of arrival again, and over so soon (seconds) after it has ended: a fiftieth. */
const lastPlace = 10_000
const maxWorkspaces = 20_000

interface Level {
  /** Jobs added, less what has drained since. */
  jobs: number
  /** As `now` told. */
  at: number
}

/**
 * Which place a workspace's next job has on the belt: 0 before all others, in the order of arrival, for whoever keeps within
 * a share; a place further back the more a workspace has added lately. So a flood of one workspace waits behind the others'
 * jobs, and floods of several take turns.
 *
 * A leaking bucket for each workspace, in the memory of this process: nothing is counted that could be left over when a
 * process dies or Redis is wiped, and none of it matters to what is run, but only to when.
 *
 * @param now ms, by a clock that is never set back: that would count as a flood
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
    level.jobs = Math.min(left + 1, burst + lastPlace)
    level.at = at
    return Math.max(0, Math.ceil(level.jobs - burst))
  }
}
