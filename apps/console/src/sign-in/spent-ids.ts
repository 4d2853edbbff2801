import { openRedis } from '@automation/queue/open-redis'

/** Entries of a process. Each costs a valid link or session, so the oldest is never worth anything when it is forgotten. */
const maxEntries = 100_000
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
  readonly #redis: ReturnType<typeof openRedis> | undefined
  readonly #prefix: string
  readonly #expiryById = new Map<string, number>()
  #restsUntil = 0

  /** @param kind separates ids of links from those of sessions */
  constructor(
    kind: string,
    { redisUrl, queuePrefix }: { redisUrl: string | undefined; queuePrefix: string },
  ) {
    this.#redis = redisUrl === undefined ? undefined : openRedis(redisUrl, 'fail fast')
    this.#prefix = `${queuePrefix}:console:${kind}:`
    this.knownSince = this.#redis ? undefined : Date.now()
  }

  /** @param expiresAt s since 1970: afterwards nobody can present the id any more */
  async spend(id: string, expiresAt: number): Promise<Spending> {
    if (this.#redis === undefined) {
      if (this.#expiryById.has(id)) return 'was-spent'
      this.rememberHere(id, expiresAt)
      return 'spent'
    }
    const seconds = Math.max(1, Math.ceil(expiresAt - Date.now() / 1_000))
    try {
      const answer = await this.#redis.set(this.#prefix + id, '1', 'EX', seconds, 'NX')
      return answer === 'OK' ? 'spent' : 'was-spent'
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
      return (await this.#redis.exists(this.#prefix + id)) === 1
    } catch {
      this.#restsUntil = performance.now() + restMs
      return false
    }
  }

  close(): void {
    this.#redis?.disconnect()
  }
}
