import type { Redis } from '@automation/queue/open-redis'

/** Entries of a process, and in Redis: a user who signs in and out for ever must not fill either. Those that end first are forgotten first. */
export const maxEntries = 100_000
/** How long (ms) a read does without a Redis that has just failed. */
const restMs = 5_000

/** What came of the wish to spend an id. unknown: Redis is away. */
export type Spending = 'spent' | 'was-spent' | 'unknown'

/**
 * Remembers ids of used links and of ended sessions until they expire. With Redis all processes share them, and they survive a restart.
 *
 *   spend   the first caller wins; 'unknown' while Redis is away
 *   isSpent asked at each request: while Redis is away, this process answers by what it knows itself
 */
export class SpentIds {
  /** Without Redis, what was spent before this moment (ms since 1970) is not known. */
  readonly knownSince: number | undefined
  readonly #redis: Redis | undefined
  readonly #key: string
  readonly #expiryById = new Map<string, number>()
  #restsUntil = 0

  /** @param kind separates ids of links from those of sessions */
  constructor(kind: string, redis: Redis | undefined, queuePrefix: string) {
    this.#redis = redis
    this.#key = `${queuePrefix}:console:${kind}`
    this.knownSince = redis ? undefined : Date.now()
  }

  /** @param expiresAt s since 1970: afterwards nobody can present the id any more */
  async spend(id: string, expiresAt: number): Promise<Spending> {
    if (this.#redis === undefined) {
      if (this.#expiryById.has(id)) return 'was-spent'
      this.rememberHere(id, expiresAt)
      return 'spent'
    }
    try {
      const [added] =
        (await this.#redis
          .multi()
          .zadd(this.#key, 'NX', expiresAt, id)
          .zremrangebyscore(this.#key, '-inf', Math.floor(Date.now() / 1_000) - 1)
          .zremrangebyrank(this.#key, 0, -maxEntries - 1)
          .exec()) ?? []
      if (added === undefined || added[0]) return 'unknown'
      return added[1] === 1 ? 'spent' : 'was-spent'
    } catch {
      return 'unknown'
    }
  }

  /** What this process knows needs no Redis. */
  rememberHere(id: string, expiresAt: number): void {
    const now = Date.now() / 1_000
    for (const [known, expiry] of this.#expiryById) {
      if (expiry >= now && this.#expiryById.size < maxEntries) break
      this.#expiryById.delete(known)
    }
    this.#expiryById.set(id, expiresAt)
  }

  async isSpent(id: string): Promise<boolean> {
    if (this.#expiryById.has(id)) return true
    if (this.#redis === undefined || performance.now() < this.#restsUntil) return false
    try {
      return (await this.#redis.zscore(this.#key, id)) !== null
    } catch {
      this.#restsUntil = performance.now() + restMs
      return false
    }
  }
}
