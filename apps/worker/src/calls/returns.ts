import { LRUCache } from 'lru-cache'

/** When an execution that found the gate full comes back: between these (ms), or later where many of its owner do. */
const leastMs = 5_000
const mostMs = 15_000
/** How much of an owner comes back in a millisecond: as much as this worker loads beside its other work. */
const bytesPerMs = 32_768
/** An execution of less is not spread: to load a thousand of them costs little. */
const lightBytes = 16_384
const longestMs = 3_600_000
const maxOwners = 10_000

/**
 * Spreads the returns of executions that found the gate full. Each one loads the data of its event again, so those of an owner come back
 * at a steady rate, however many they are: the more were refused, the later the next one returns.
 */
export class Returns {
  readonly #now: () => number
  /** When the last of an owner's returns is over. */
  readonly #endsAt = new LRUCache<string, number>({ max: maxOwners })

  /** @param now ms, by a monotonic clock */
  constructor(now: () => number) {
    this.#now = now
  }

  /** @returns after how many ms an execution of so many bytes comes back */
  findNext(owner: string, bytes: number): number {
    const usualMs = leastMs + Math.random() * (mostMs - leastMs)
    if (bytes < lightBytes) return usualMs
    const now = this.#now()
    const beginsAt = Math.max(now, this.#endsAt.get(owner) ?? 0)
    const endsAt = Math.min(beginsAt + bytes / bytesPerMs, now + longestMs)
    this.#endsAt.set(owner, endsAt)
    return Math.max(usualMs, endsAt - now)
  }
}
