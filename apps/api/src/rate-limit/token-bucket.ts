import { LRUCache } from 'lru-cache'
import type { Bucket } from '../config.js'

/**
 * A token bucket kept as one number: the time at which it will be full again (the "theoretical arrival time" of the
 * generic cell rate algorithm). A request moves that time on by one token's interval; it is refused where the time
 * would lie further ahead than a whole bucket takes to fill.
 */
export interface Draw {
  isRefused: boolean
  /** Whole tokens left. */
  remaining: number
  /** Milliseconds until the tokens are there: only where refused, else 0. */
  waitMs: number
}

/** What one token takes to grow. In whole microseconds sums are exact, here and in Lua: a full bucket holds just its burst. */
export function tokenInterval(perMinute: number): number {
  return Math.max(1, Math.round(60_000_000 / perMinute))
}

function draw(
  fullAt: number,
  now: number,
  interval: number,
  burst: number,
  tokens: number,
): { fullAt: number; draw: Draw } {
  const next = Math.max(fullAt, now) + interval * tokens
  const room = now + interval * burst - next
  return room < 0
    ? { fullAt, draw: { isRefused: true, remaining: 0, waitMs: Math.ceil(-room / 1_000) } }
    : { fullAt: next, draw: { isRefused: false, remaining: Math.floor(room / interval), waitMs: 0 } }
}

/** Buckets of this process alone, for as long as Redis is away. The least recently used are forgotten first. */
export function createLocalBuckets() {
  const fullAts = new LRUCache<string, number>({ max: 10_000 })
  return (key: string, { perMinute, burst }: Bucket, now: number, tokens = 1): Draw => {
    const result = draw(fullAts.get(key) ?? 0, now * 1_000, tokenInterval(perMinute), burst, tokens)
    fullAts.set(key, result.fullAt)
    return result.draw
  }
}
