import { LRUCache } from 'lru-cache'
import type { Bucket } from '../config.js'

/** A bucket, and its key among all buckets. */
export interface KeyedBucket extends Bucket {
  key: string
}

/** Consumes as many tokens of each of its buckets, from all of them or none. */
export interface TokenRequest {
  /** The caller's own first, then those above it. */
  buckets: KeyedBucket[]
  tokens: number
}

/** The result of consuming tokens, from all buckets or none. */
export interface Consumption {
  isRefused: boolean
  /** The index of the bucket that is described: the one with the fewest tokens left, or the one that refused for longest. */
  index: number
  /** Whole tokens left in it. */
  remaining: number
  /** Milliseconds until all buckets have enough tokens; 0 where it was not refused. */
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
 * Creates the buckets of this process, for use while Redis is away. The least recently used bucket is removed first.
 *
 * A token bucket is stored as one number: the time at which it will be full again (the "theoretical arrival time" of the generic cell
 * rate algorithm). A request adds the intervals of its tokens to that time. It is refused where the time would be further ahead than
 * an empty bucket needs to fill.
 */
export function createLocalBuckets() {
  const fullAts = new LRUCache<string, number>({ max: 10_000 })
  return ({ buckets, tokens }: TokenRequest, nowMs: number): Consumption => {
    const now = nowMs * 1_000
    const looks = buckets.map(({ key, perMinute, burst }) => {
      const interval = tokenInterval(perMinute)
      const fullAt = Math.max(fullAts.get(key) ?? 0, now)
      return { key, interval, each: interval * tokens, fullAt, room: now + interval * burst - fullAt }
    })
    const isRefused = looks.some(({ room, each }) => room < each)
    const left = looks.map(({ room, each, interval }) =>
      Math.floor((room - (isRefused ? 0 : each)) / interval),
    )
    const waits = looks.map(({ room, each }) => Math.ceil(Math.max(0, each - room) / 1_000))
    if (!isRefused) for (const { key, fullAt, each } of looks) fullAts.set(key, fullAt + each)
    const waitMs = isRefused ? Math.max(...waits) : 0
    const index = isRefused ? waits.indexOf(waitMs) : left.indexOf(Math.min(...left))
    return { isRefused, index, remaining: Math.max(0, left[index] as number), waitMs }
  }
}
