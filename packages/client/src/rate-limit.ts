import { pause } from './pause.js'

/** The bucket of requests, from the API's last response. */
export interface RateLimit {
  /** How many requests it holds. */
  limit: number
  /** How many were left. */
  remaining: number
  /** In how many seconds it would be full. */
  resetSeconds: number
  /** When that response came (ms since 1970). */
  toldAt: number
}

/** How often (ms) to check whether the first response has come, which has the size of the bucket. */
const lookMs = 50

/** Knows the bucket, and, if it is to keep the pace, lets requests go as it fills, in the order in which they came. */
export function createPace(isKept: boolean) {
  let last: RateLimit | undefined
  /** The answer by which there is least: answers overtake one another, and an older one knows of fewer requests. */
  let least: RateLimit | undefined
  /** At the least; `resetSeconds` are rounded up, so an emptier bucket tells it better. */
  let fillPerMs = 0
  let underWay = 0
  let line = Promise.resolve()

  return {
    last: () => last,

    /** Waits for its turn; `leave` has to be called when the request is over. */
    async enter(signal: AbortSignal | undefined): Promise<void> {
      if (isKept) await queue(signal)
      underWay++
    },

    /** @param headers of the answer, if there was one */
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
      // Only once `enter` has counted this one.
      queueMicrotask(go)
    }
  }

  /** Those under way are taken to be gone from the bucket, whether or not the last answer has counted them. */
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
