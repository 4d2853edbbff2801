import { pause } from './pause.js'

/** The bucket, as reported by the API's last response. */
export interface RateLimit {
  /** Its maximum number of tokens. */
  limit: number
  /** The tokens that were left. */
  remaining: number
  /** Seconds until it would be full. */
  resetSeconds: number
  /** The time of that response (ms since 1970). */
  toldAt: number
}

/** How often (ms) to check for the first response, which reports the size of the bucket. */
const lookMs = 50

/** Keeps the state of the bucket. With `keepsPace`, it delays requests until there are tokens, first come, first served. */
export function createPace(isKept: boolean) {
  let last: RateLimit | undefined
  /** The response that implies the fewest tokens: responses may arrive out of order, and an older one counts fewer requests. */
  let least: RateLimit | undefined
  /** A lower bound. `resetSeconds` is rounded up, so an emptier bucket gives a better estimate. */
  let fillPerMs = 0
  let underWay = 0
  let line = Promise.resolve()

  return {
    last: () => last,

    /** Waits for a token. `leave` must be called when the request is over. */
    async enter(signal: AbortSignal | undefined): Promise<void> {
      if (isKept) await queue(signal)
      underWay++
    },

    /** @param headers of the response, if there was one */
    leave(headers: Headers | undefined): void {
      underWay--
      last = (headers && readRateLimit(headers)) ?? last
      if (last === undefined) return
      if (least?.limit !== last.limit) fillPerMs = 0
      fillPerMs = Math.max(fillPerMs, (last.limit - last.remaining) / Math.max(1, last.resetSeconds * 1_000))
      if (least?.limit !== last.limit || countFree(last) <= countFree(least)) least = last
    },
  }

  async function queue(signal: AbortSignal | undefined): Promise<void> {
    const before = line
    let go = () => {}
    line = new Promise((resolve) => {
      go = resolve
    })
    await before
    try {
      for (let waitMs = msUntilFree(); waitMs > 0; waitMs = msUntilFree()) await pause(waitMs, signal)
    } finally {
      // Only after `enter` has counted this one.
      queueMicrotask(go)
    }
  }

  /** Requests under way count as consumed, whether or not the last response includes them. */
  function msUntilFree(): number {
    if (least === undefined) return underWay > 0 ? lookMs : 0
    const free = countFree(least) - underWay
    if (free >= 1) return 0
    return fillPerMs > 0 ? Math.ceil((1 - free) / fillPerMs) : lookMs
  }

  /** The number of tokens by now, computed from that response. */
  function countFree({ limit, remaining, toldAt }: RateLimit): number {
    return Math.min(limit, remaining + (Date.now() - toldAt) * fillPerMs)
  }
}

function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, resetSeconds] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  ) as [number, number, number]
  return Number.isNaN(limit + remaining + resetSeconds)
    ? undefined
    : { limit, remaining, resetSeconds, toldAt: Date.now() }
}
