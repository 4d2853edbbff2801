/** One read a second for all who watch a workspace. */
const readEveryMs = 1_000
/** Of one workspace. One more gets a response without a wait. */
const mostWatchers = 50
/** Of this process: each costs a read a second. A watcher of one more gets a response without a wait. */
const mostWorkspaces = 200

/** Sorts before the id of every event. */
const beforeAll = '00000000-0000-0000-0000-000000000000'

/** Finds the ids of events that are newer than one, newest first. */
type Read = (after: string) => Promise<string[]>

/** What a watcher gets: the newest event that is known, and how many came after the one that it knew. */
export interface Newest {
  /** undefined: there is no event. */
  newestId: string | undefined
  count: number
}

interface Watcher {
  /** The newest event that it knows; undefined until the next read: the newest one then. */
  after: string | undefined
  /** ms, by the process's monotonic clock */
  until: number
  read: Read
  isGone: () => boolean
  resolve: (newest: Newest) => void
  reject: (error: unknown) => void
}

interface Watched {
  watchers: Set<Watcher>
  /** As of the last read. */
  newest: string | undefined
}

/**
 * Tells watchers of a workspace when it has new events. Nothing tells this class: it reads, once a second for each workspace that
 * somebody watches, and not at all for the others.
 *
 *   first watcher ──▶ read ──▶ 1 s ──▶ read … ──▶ nobody watches any more: the workspace is forgotten
 *                       └──▶ each watcher that knows less, or whose time is over, or who has left, is done
 */
export class EventWatch {
  readonly #watched = new Map<string, Watched>()
  #isClosed = false

  /**
   * Waits for events that are newer than `after`, for `waitMs` and the time until the next read.
   *
   * @param after undefined: newer than those that there are now
   */
  async watch(
    workspaceId: string,
    { after, waitMs, read, isGone }: Pick<Watcher, 'after' | 'read' | 'isGone'> & { waitMs: number },
  ): Promise<Newest> {
    const known = this.#watched.get(workspaceId)
    const isFull = known ? known.watchers.size >= mostWatchers : this.#watched.size >= mostWorkspaces
    if (isFull || waitMs === 0 || this.#isClosed) return compare(await read(after ?? beforeAll), after)
    return new Promise((resolve, reject) => {
      const until = performance.now() + waitMs
      const watcher = { after: after ?? known?.newest, until, read, isGone, resolve, reject }
      if (known) known.watchers.add(watcher)
      else this.#begin(workspaceId, watcher)
    })
  }

  /** How many workspaces are read once a second. */
  get workspaces(): number {
    return this.#watched.size
  }

  /** All watchers get what they would get at the end of their time. */
  close(): void {
    this.#isClosed = true
    for (const { watchers } of this.#watched.values())
      for (const { resolve, after } of watchers) resolve(compare([], after))
    this.#watched.clear()
  }

  #begin(workspaceId: string, watcher: Watcher): void {
    const watched = { watchers: new Set([watcher]), newest: undefined }
    this.#watched.set(workspaceId, watched)
    void this.#look(workspaceId, watched)
  }

  async #look(workspaceId: string, watched: Watched): Promise<void> {
    const { watchers } = watched
    for (const watcher of watchers) if (watcher.isGone()) settle(watchers, watcher, [])
    const asked = [...watchers]
    const [first] = asked
    if (first === undefined || this.#isClosed) {
      this.#watched.delete(workspaceId)
      return
    }
    const floor = asked
      .map(({ after }) => after ?? beforeAll)
      .reduce((one, other) => (one < other ? one : other))
    try {
      const ids = await first.read(floor)
      watched.newest = ids[0] ?? watched.newest ?? floor
      // Also of those that came during the read: what is committed from now on is new to them.
      for (const watcher of watchers) watcher.after ??= watched.newest
      for (const watcher of asked) {
        const newer = ids.filter((id) => id > (watcher.after ?? beforeAll))
        if (newer.length > 0 || performance.now() >= watcher.until) settle(watchers, watcher, newer)
      }
    } catch (error) {
      for (const watcher of asked) {
        watchers.delete(watcher)
        watcher.reject(error)
      }
    }
    setTimeout(() => void this.#look(workspaceId, watched), readEveryMs).unref()
  }
}

function settle(watchers: Set<Watcher>, watcher: Watcher, newer: string[]): void {
  watchers.delete(watcher)
  watcher.resolve(compare(newer, watcher.after))
}

/** @param ids newest first; those after `after`, or all */
function compare(ids: string[], after: string | undefined): Newest {
  const newest = ids[0] ?? after
  return { newestId: newest === beforeAll ? undefined : newest, count: after === undefined ? 0 : ids.length }
}
