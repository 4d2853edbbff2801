import { LRUCache } from 'lru-cache'
import type { Bucket } from '../config.js'

/** The result of consuming tokens, all of them or none. */
export interface Consumption {
  isRefused: boolean
  /** Whole tokens left. */
  remaining: number
  /** Milliseconds until there are enough tokens; 0 where it was not refused. */
  waitMs: number
}

/**
 * The time (µs) in which one token is added. Sums of whole microseconds are exact, here and in Lua: a full bucket contains exactly
 * its burst.
 */
export function tokenInterval(perMinute: number): number {
  return Math.max(1, Math.round(60_000_000 / perMinute))
}

/**
 * A token bucket is stored as one number: the time at which it will be full again (the "theoretical arrival time" of the generic cell
 * rate algorithm). A request adds one token's interval to that time. It is refused where the time would be further ahead than an
 * empty bucket needs to fill.
 */
function consume(
  fullAt: number,
  now: number,
  interval: number,
  burst: number,
  tokens: number,
): { fullAt: number; consumption: Consumption } {
  const next = Math.max(fullAt, now) + interval * tokens
  const room = now + interval * burst - next
  return room < 0
    ? { fullAt, consumption: { isRefused: true, remaining: 0, waitMs: Math.ceil(-room / 1_000) } }
    : { fullAt: next, consumption: { isRefused: false, remaining: Math.floor(room / interval), waitMs: 0 } }
}

/** Creates the buckets of this process, for use while Redis is away. The least recently used bucket is removed first. */
export function createLocalBuckets() {
  const fullAts = new LRUCache<string, number>({ max: 10_000 })
  return (key: string, { perMinute, burst }: Bucket, now: number, tokens = 1): Consumption => {
    const result = consume(fullAts.get(key) ?? 0, now * 1_000, tokenInterval(perMinute), burst, tokens)
    fullAts.set(key, result.fullAt)
    return result.consumption
  }
}
