/** One read a second for all who watch a workspace. */
const readEveryMs = 1_000
/** Of one workspace. One more gets a response without a wait. */
const mostWatchers = 50
/** Of this process: each costs a read a second. A watcher of one more gets a response without a wait. */
const mostWorkspaces = 200

type Read = (after: string) => Promise<string[]>

interface Watcher {
  /** The newest event that it knows; '': none. */
  after: string
  /** ms, by the process's monotonic clock */
  until: number
  read: Read
  isGone: () => boolean
  resolve: (ids: string[]) => void
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
   * @param after '': the newest of all is read, without a wait
   * @param read finds ids that are newer than one, newest first
   * @returns ids, newest first; none where the time is over
   */
  watch(
    workspaceId: string,
    { after, waitMs, read, isGone }: Pick<Watcher, 'after' | 'read' | 'isGone'> & { waitMs: number },
  ): Promise<string[]> {
    const known = this.#watched.get(workspaceId)
    const isFull = known ? known.size >= mostWatchers : this.#watched.size >= mostWorkspaces
    if (isFull || waitMs === 0 || after === '' || this.#isClosed) return read(after)
    return new Promise((resolve, reject) => {
      const watcher = { after, until: performance.now() + waitMs, read, isGone, resolve, reject }
      if (known) known.add(watcher)
      else {
        const watchers = new Set([watcher])
        this.#watched.set(workspaceId, watchers)
        void this.#look(workspaceId, watchers)
      }
    })
  }

  /** How many workspaces are read once a second. */
  get workspaces(): number {
    return this.#watched.size
  }

  /** All watchers get what they would get at the end of their time. */
  close(): void {
    this.#isClosed = true
    for (const watchers of this.#watched.values()) for (const watcher of watchers) watcher.resolve([])
    this.#watched.clear()
  }

  async #look(workspaceId: string, watchers: Set<Watcher>): Promise<void> {
    for (const watcher of watchers) if (watcher.isGone()) settle(watchers, watcher, [])
    const [first] = watchers
    if (first === undefined || this.#isClosed) {
      this.#watched.delete(workspaceId)
      return
    }
    const floor = [...watchers].reduce((least, { after }) => (after < least ? after : least), first.after)
    const asked = [...watchers]
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

function settle(watchers: Set<Watcher>, watcher: Watcher, ids: string[]): void {
  watchers.delete(watcher)
  watcher.resolve(ids)
}
