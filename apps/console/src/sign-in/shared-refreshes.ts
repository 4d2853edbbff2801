import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createBox, type SealedBox } from '@automation/process/sign-in'
import type { Redis } from '@automation/queue/open-redis'
import type { Config } from '../config.js'
import type { SessionContent } from './sessions.js'

/** refused: the provider ended the session. away: it did not respond, and its refresh token may still be good. */
export type Renewed = SessionContent | 'refused' | 'away'

/** How long (ms) the result of a refresh serves the requests that still carry the old cookie. */
export const keptMs = 60_000
/** How long (ms) a console may ask, and another one wait for it: longer than the provider's two timeouts of 5 s. */
const claimMs = 15_000
const pollMs = 100
const claimWord = 'asking '

const replaceClaim = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('set', KEYS[1], ARGV[2], 'PX', ARGV[3]) end`
const releaseClaim = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end`

/**
 * Shares each refresh among the consoles of one Redis, because a provider may accept a refresh token only once. The key is a digest of
 * the refresh token, and the result is sealed with CONSOLE_SECRET.
 *
 *   free ──SET NX──▶ asking (15 s) ──▶ result (60 s)   others wait for it
 *                      └── provider away ──▶ free       others get 'away', and ask at their next request
 *
 * Without Redis, or while it is away, each process asks for itself.
 */
export class SharedRefreshes {
  readonly #redis: Redis | undefined
  readonly #prefix: string
  readonly #box: SealedBox<{ result: Exclude<Renewed, 'away'> }>

  constructor(redis: Redis | undefined, { queuePrefix, secret }: Pick<Config, 'queuePrefix' | 'secret'>) {
    this.#redis = redis
    this.#prefix = `${queuePrefix}:console:refresh:`
    this.#box = createBox(secret, 'refresh')
  }

  async run(digest: string, ask: () => Promise<Renewed>): Promise<Renewed> {
    if (this.#redis === undefined) return ask()
    const key = this.#prefix + digest
    const claim = claimWord + randomUUID()
    const claimed = await this.#redis
      .set(key, claim, 'PX', claimMs, 'NX')
      .then((reply) => (reply === 'OK' ? 'ours' : 'of another'))
      .catch(() => 'unknown')
    if (claimed === 'of another') return this.#wait(this.#redis, key)
    const result = await ask()
    // Redis may have had an unknown claim: then the others wait for this result, too.
    const published = this.#publish(this.#redis, key, claim, result)
    if (claimed === 'ours') await published
    return result
  }

  async #wait(redis: Redis, key: string): Promise<Renewed> {
    const endsAt = performance.now() + claimMs
    while (performance.now() < endsAt) {
      const held = await redis.get(key).catch(() => null)
      if (held === null) return 'away'
      if (!held.startsWith(claimWord)) return (await this.#box.open(held))?.result ?? 'away'
      await setTimeout(pollMs)
    }
    return 'away'
  }

  /** Only in the place of the own claim. A Redis that fails now costs the others a wait; this process has the result. */
  async #publish(redis: Redis, key: string, claim: string, result: Renewed) {
    try {
      if (result === 'away') await redis.eval(releaseClaim, 1, key, claim)
      else {
        const sealed = await this.#box.seal({ result }, Math.ceil((Date.now() + keptMs) / 1_000))
        await redis.eval(replaceClaim, 1, key, claim, sealed, keptMs)
      }
    } catch {}
  }
}
