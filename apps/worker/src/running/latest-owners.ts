/** How long ago (ms) another one may have had work, for an owner to count as one among others. */
const recentMs = 2_000

/** Knows whether an owner has had the worker to itself lately: then nobody needs room beside it. */
export class LatestOwners {
  readonly #now: () => number
  /** undefined: nobody has had work yet. */
  #last: string | undefined
  /** When anybody last had work. */
  #lastAt = Number.NEGATIVE_INFINITY
  /** When the worker last went from the work of one owner to that of another. */
  #changedAt = Number.NEGATIVE_INFINITY

  /** @param now ms, by a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Call before work of an owner begins. */
  note(owner: string): void {
    this.#lastAt = this.#now()
    if (owner === this.#last) return
    if (this.#last !== undefined) this.#changedAt = this.#lastAt
    this.#last = owner
  }

  /** Whether others have had work lately. */
  areBeside(owner: string): boolean {
    return this.#now() - (this.#last === owner ? this.#changedAt : this.#lastAt) <= recentMs
  }
}
