import type { Redis } from '@automation/queue/open-redis'

/** Entries of a process, and in Redis: a user who signs in and out for ever must not fill either. Those that end first are forgotten first. */
export const maxEntries = 100_000

/** What came of the wish to spend an id. unknown: Redis is away. */
export type Spending = 'spent' | 'was-spent' | 'unknown'

/**
 * Remembers ids of used links and of ended sessions until they expire. With Redis all processes share them, and they survive a restart.
 *
 *   spend   the first caller wins; 'unknown' while Redis is away
 *   end     for ids that nobody competes for; while Redis is away, only this process knows it, and Redis learns it afterwards
 *   isSpent asked at each request: while Redis is away, this process answers by what it knows itself
 *
 * Redis keeps the ids in a sorted set. The score of an id is its expiry plus a random fraction, which identifies the claim of one caller.
 */
export class SpentIds {
  /** Without Redis, what was spent before this moment (ms since 1970) is not known. */
  readonly knownSince: number | undefined
  readonly #redis: Redis | undefined
  readonly #key: string
  readonly #expiryById = new BoundedMap()
  /** Scores of claims whose outcome is not known: the next attempt makes the same claim, which Redis may have had already. */
  readonly #claims = new BoundedMap()
  /** Ended sessions that Redis does not know yet: it learns them when it is back, or responds again. */
  readonly #unsaved = new BoundedMap()
  #isSaving = false

  /** @param kind separates ids of links from those of sessions */
  constructor(kind: string, redis: Redis | undefined, queuePrefix: string) {
    this.#redis = redis
    this.#key = `${queuePrefix}:console:${kind}`
    this.knownSince = redis ? undefined : Date.now()
    redis?.on('ready', () => void this.#saveAll(redis))
  }

  /** @param expiresAt s since 1970: afterwards nobody can present the id any more */
  async spend(id: string, expiresAt: number): Promise<Spending> {
    if (this.#redis === undefined) {
      if (this.#expiryById.has(id)) return 'was-spent'
      this.#expiryById.set(id, expiresAt)
      return 'spent'
    }
    const claim = this.#claims.get(id) ?? expiresAt + Math.random()
    this.#claims.set(id, claim)
    const holder = await this.#add(this.#redis, id, claim)
    if (holder === undefined) return 'unknown'
    // Of two attempts in this process that make the same claim, the first one to know wins.
    const isOurs = holder === claim && this.#claims.get(id) === claim
    this.#claims.delete(id)
    return isOurs ? 'spent' : 'was-spent'
  }

  async end(id: string, expiresAt: number): Promise<void> {
    this.#expiryById.set(id, expiresAt)
    if (this.#redis === undefined) return
    if ((await this.#add(this.#redis, id, expiresAt)) === undefined) this.#unsaved.set(id, expiresAt)
  }

  async isSpent(id: string): Promise<boolean> {
    if (this.#expiryById.has(id)) return true
    if (this.#redis === undefined) return false
    try {
      const score = await this.#redis.zscore(this.#key, id)
      void this.#saveAll(this.#redis)
      return score !== null
    } catch {
      return false
    }
  }

  /** @returns the score that the id has now; undefined while Redis is away */
  async #add(redis: Redis, id: string, score: number): Promise<number | undefined> {
    try {
      const [added, held] =
        (await redis
          .multi()
          .zadd(this.#key, 'NX', score, id)
          .zscore(this.#key, id)
          .zremrangebyscore(this.#key, '-inf', Math.floor(Date.now() / 1_000) - 1)
          .zremrangebyrank(this.#key, 0, -maxEntries - 1)
          .exec()) ?? []
      const isDone = added && !added[0] && held && !held[0] && held[1] !== null
      return isDone ? Number(held[1]) : undefined
    } catch {
      return undefined
    }
  }

  async #saveAll(redis: Redis): Promise<void> {
    if (this.#isSaving) return
    this.#isSaving = true
    for (const [id, expiresAt] of this.#unsaved) {
      if ((await this.#add(redis, id, expiresAt)) === undefined) break
      this.#unsaved.delete(id)
    }
    this.#isSaving = false
  }
}

/** Numbers by id, which are expiries (s since 1970) or begin with one. Those that were set first are forgotten first. */
class BoundedMap extends Map<string, number> {
  override set(id: string, value: number): this {
    const now = Date.now() / 1_000
    for (const [known, expiry] of this) {
      if (expiry >= now && this.size < maxEntries) break
      this.delete(known)
    }
    return super.set(id, value)
  }
}
