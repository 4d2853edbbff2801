import { pause } from './pause.js'
import type { RateLimit } from './rate-limit.js'
import { within } from './within.js'

/** What a response says about the bucket, and when it arrived. A clock that is set does not change `at`. */
interface Level extends Pick<RateLimit, 'limit' | 'remaining'> {
  at: number
}

/** How often (ms) to check for the first response, which reports the size of the bucket. */
const lookMs = 50

/**
 * Delays requests until their bucket has tokens for them, first come, first served.
 *
 *   before the first response      one request at a time
 *   after one without X-RateLimit  no delay
 *   after one with X-RateLimit     as its bucket allows
 */
export class Pace {
  #line = Promise.resolve()
  /** The tokens of the requests under way. */
  #underWay = 0
  /** The response that implies the fewest tokens: responses may arrive out of order, and an older one counts fewer requests. */
  #least: Level | undefined
  /** A lower bound. `resetSeconds` is rounded up, so an emptier bucket gives a better estimate. */
  #fillPerMs = 0
  #isUnlimited = false

  /** Waits for the tokens. `leave` must be called when the request is over. @throws the reason of the aborted signal */
  async enter(tokens: number, signal: AbortSignal | undefined): Promise<void> {
    const before = this.#line
    let go = () => {}
    this.#line = new Promise((resolve) => {
      go = resolve
    })
    try {
      await within({ timeoutMs: Number.POSITIVE_INFINITY, signal, late: neverLate }, () => before)
      for (let waitMs = this.#msUntilFree(tokens); waitMs > 0; waitMs = this.#msUntilFree(tokens))
        await pause(waitMs, signal)
      this.#underWay += tokens
    } finally {
      // A request that is aborted in the line keeps its place until those before it have gone.
      void before.then(go)
    }
  }

  /** @param rateLimit of the response; undefined if it had none, 'no response' if there was no response */
  leave(tokens: number, rateLimit: RateLimit | undefined | 'no response'): void {
    this.#underWay -= tokens
    if (rateLimit === 'no response') return
    this.#isUnlimited = rateLimit === undefined
    if (rateLimit === undefined) return
    const { limit, remaining, resetSeconds } = rateLimit
    const stated = { limit, remaining, at: performance.now() }
    if (this.#least?.limit !== limit) this.#fillPerMs = 0
    this.#fillPerMs = Math.max(this.#fillPerMs, (limit - remaining) / Math.max(1, resetSeconds * 1_000))
    const isLeast = this.#least?.limit !== limit || this.#countFree(stated) <= this.#countFree(this.#least)
    if (isLeast) this.#least = stated
  }

  /** Tokens of requests under way count as consumed, whether or not the last response includes them. */
  #msUntilFree(tokens: number): number {
    if (this.#isUnlimited) return 0
    if (this.#least === undefined) return this.#underWay > 0 ? lookMs : 0
    // The API never takes more tokens than a full bucket has.
    const missing = Math.min(tokens, this.#least.limit) - (this.#countFree(this.#least) - this.#underWay)
    if (missing <= 0) return 0
    return this.#fillPerMs > 0 ? Math.ceil(missing / this.#fillPerMs) : lookMs
  }

  /** The number of tokens by now, computed from that response. */
  #countFree({ limit, remaining, at }: Level): number {
    return Math.min(limit, remaining + (performance.now() - at) * this.#fillPerMs)
  }
}

function neverLate(): Error {
  return new Error('A line has no timeout')
}
