import { LRUCache } from 'lru-cache'
import type { Bucket } from './config.js'

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

/**
 * The same in Redis, by its own clock, so that all API processes agree: tokens from each of the buckets KEYS, one
 * after the other, be it the same bucket again. ARGV, for each: interval of one token in microseconds, burst, how many
 * tokens: all of them or none. Answers for each: whole tokens left, or -1 where refused; milliseconds to wait.
 */
export const drawTokensScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local draws = {}
for i, key in ipairs(KEYS) do
  local interval, burst, tokens = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local fullAt = tonumber(redis.call('GET', key) or now)
  local nextFullAt = math.max(fullAt, now) + interval * tokens
  local room = now + interval * burst - nextFullAt
  if room < 0 then
    draws[2 * i - 1], draws[2 * i] = -1, math.ceil(-room / 1000)
  else
    redis.call('SET', key, string.format('%.0f', nextFullAt), 'PX', math.ceil((nextFullAt - now) / 1000) + 1)
    draws[2 * i - 1], draws[2 * i] = math.floor(room / interval), 0
  end
end
return draws
`

/** Buckets of this process alone, for as long as Redis is away. The least recently used are forgotten first. */
export function createLocalBuckets() {
  const fullAts = new LRUCache<string, number>({ max: 10_000 })
  return (key: string, { perMinute, burst }: Bucket, now: number, tokens = 1): Draw => {
    const result = draw(fullAts.get(key) ?? 0, now * 1_000, tokenInterval(perMinute), burst, tokens)
    fullAts.set(key, result.fullAt)
    return result.draw
  }
}
