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

/** A bucket that takes longer to fill (a month) is not the API's: some proxies send a point in time. */
const longestResetSeconds = 31 * 86_400

/** undefined where the response does not describe a bucket of the API. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, resetSeconds] = ['limit', 'remaining', 'reset'].map((name) =>
    Number.parseInt(headers.get(`x-ratelimit-${name}`) ?? '', 10),
  ) as [number, number, number]
  const isBucket =
    limit >= 1 &&
    remaining >= 0 &&
    remaining <= limit &&
    resetSeconds >= 0 &&
    resetSeconds <= longestResetSeconds
  return isBucket ? { limit, remaining, resetSeconds, toldAt: Date.now() } : undefined
}
