/** How long ago (ms) another one may have had work, for an owner to count as one among others. */
const recentMs = 2_000

/** Knows whether an owner has had the worker to itself lately: then nobody needs room beside it. */
export class LatestOwners {
  readonly #now: () => number
  #last: string | undefined
  /** When anybody last had work. */
  #lastAt = Number.NEGATIVE_INFINITY
  /** When another one than the last last had work. */
  #otherAt = Number.NEGATIVE_INFINITY

  /** @param now ms, by a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Call before work of an owner begins. */
  note(owner: string): void {
    if (owner !== this.#last) {
      this.#otherAt = this.#lastAt
      this.#last = owner
    }
    this.#lastAt = this.#now()
  }

  /** Whether others have had work lately. */
  areBeside(owner: string): boolean {
    return this.#now() - (this.#last === owner ? this.#otherAt : this.#lastAt) <= recentMs
  }
}
