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
  /** The newest event that it knows. */
  after: string
  /** ms, by the process's monotonic clock */
  until: number
  read: Read
  isGone: () => boolean
  resolve: (newest: Newest) => void
  reject: (error: unknown) => void
}

/**
 * Tells watchers of a workspace when it has new events. Nothing tells this class: it reads, once a second for each workspace that
 * somebody watches, and not at all for the others.
 *
 *   first watcher ──▶ read ──▶ 1 s ──▶ read … ──▶ nobody watches any more: the workspace is forgotten
 *                       └──▶ each watcher that knows less, or whose time is over, or who has left, is done
 */
export class EventWatch {
  readonly #watched = new Map<string, Set<Watcher>>()
  #isClosed = false

  /**
   * Waits for events that are newer than `after`, for `waitMs` and the time until the next read.
   *
   * @param after undefined: newer than those that there are now
   */
  async watch(
    workspaceId: string,
    {
      after,
      waitMs,
      read,
      isGone,
    }: Pick<Watcher, 'read' | 'isGone'> & { after: string | undefined; waitMs: number },
  ): Promise<Newest> {
    const known = after ?? (await read(beforeAll))[0] ?? beforeAll
    const watchers = this.#watched.get(workspaceId)
    const isFull = watchers ? watchers.size >= mostWatchers : this.#watched.size >= mostWorkspaces
    if (isFull || waitMs === 0 || this.#isClosed)
      return compare(after === undefined ? [] : await read(after), known)
    return new Promise((resolve, reject) => {
      const until = performance.now() + waitMs
      const watcher = { after: known, until, read, isGone, resolve, reject }
      if (watchers) watchers.add(watcher)
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
    for (const watchers of this.#watched.values())
      for (const { resolve, after } of watchers) resolve(compare([], after))
    this.#watched.clear()
  }

  #begin(workspaceId: string, watcher: Watcher): void {
    const watchers = new Set([watcher])
    this.#watched.set(workspaceId, watchers)
    void this.#look(workspaceId, watchers)
  }

  async #look(workspaceId: string, watchers: Set<Watcher>): Promise<void> {
    for (const watcher of watchers) if (watcher.isGone()) settle(watchers, watcher, [])
    const asked = [...watchers]
    const [first] = asked
    if (first === undefined || this.#isClosed) {
      this.#watched.delete(workspaceId)
      return
    }
    const floor = asked.map(({ after }) => after).reduce((one, other) => (one < other ? one : other))
    try {
      const ids = await first.read(floor)
      for (const watcher of asked) {
        const newer = ids.filter((id) => id > watcher.after)
        if (newer.length > 0 || performance.now() >= watcher.until) settle(watchers, watcher, newer)
      }
    } catch (error) {
      for (const watcher of asked) {
        watchers.delete(watcher)
        watcher.reject(error)
      }
    }
    setTimeout(() => void this.#look(workspaceId, watchers), readEveryMs).unref()
  }
}

function settle(watchers: Set<Watcher>, watcher: Watcher, newer: string[]): void {
  watchers.delete(watcher)
  watcher.resolve(compare(newer, watcher.after))
}

/** @param ids those after `after`, newest first */
function compare(ids: string[], after: string): Newest {
  const newest = ids[0] ?? after
  return { newestId: newest === beforeAll ? undefined : newest, count: ids.length }
}
