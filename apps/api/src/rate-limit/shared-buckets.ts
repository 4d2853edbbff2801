import { createBatcher } from '@automation/database'
import type { Redis } from 'ioredis'
import { type Consumption, type TokenRequest, tokenInterval } from './token-bucket.js'

/**
 * Consumes tokens from buckets in Redis, by its own clock, so that all API processes agree. KEYS are the buckets of one group of
 * equal requests after another. A bucket may be in several groups, and is read and written once. ARGV for each group: the number of
 * its buckets, the tokens that one request consumes from each of them (from all or none), the number of requests; then for each
 * bucket the interval of one token in microseconds, and the burst. Returns for each group:
 *
 *   1     the number of granted requests
 *   2, 3  the bucket with the fewest whole tokens left after them, from 0, and that number
 *   4, 5  the bucket for which the next request would have to wait longest, from 0, and its whole tokens left
 *   6     how long, in milliseconds
 */
const consumeTokensScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local results, key, argument = {}, 0, 0
local fullAts, changed = {}, {}
while argument < #ARGV do
  local count, tokens, granted =
    tonumber(ARGV[argument + 1]), tonumber(ARGV[argument + 2]), tonumber(ARGV[argument + 3])
  argument = argument + 3
  local intervals, rooms = {}, {}
  for i = 1, count do
    local interval, burst = tonumber(ARGV[argument + 2 * i - 1]), tonumber(ARGV[argument + 2 * i])
    local name = KEYS[key + i]
    local fullAt = fullAts[name] or math.max(tonumber(redis.call('GET', name) or now), now)
    fullAts[name], intervals[i], rooms[i] = fullAt, interval, now + interval * burst - fullAt
    granted = math.max(0, math.min(granted, math.floor(rooms[i] / (interval * tokens))))
  end
  local fewest, fewestLeft, slowest, slowestLeft, wait
  for i = 1, count do
    local interval = intervals[i]
    local each = interval * tokens
    local room = rooms[i] - each * granted
    if granted > 0 then
      local name = KEYS[key + i]
      fullAts[name] = fullAts[name] + each * granted
      changed[name] = true
    end
    local left = math.max(0, math.floor(room / interval))
    if i == 1 or left < fewestLeft then fewest, fewestLeft = i - 1, left end
    if i == 1 or each - room > wait then slowest, slowestLeft, wait = i - 1, left, each - room end
  end
  local result = #results
  results[result + 1], results[result + 2], results[result + 3] = granted, fewest, fewestLeft
  results[result + 4], results[result + 5], results[result + 6] = slowest, slowestLeft, math.ceil(wait / 1000)
  key, argument = key + count, argument + 2 * count
end
for name in pairs(changed) do
  local fullAt = fullAts[name]
  redis.call('SET', name, string.format('%.0f', fullAt), 'PX', math.ceil((fullAt - now) / 1000) + 1)
end
return results
`
const figuresPerGroup = 6
/** This is the first that all requests wait for: those that share this call share their commit and their job, too. So it has the longest pause. */
const pauseMs = 8

/** Equal requests of the same moment: for the same buckets, and for as many tokens each. */
interface Group extends TokenRequest {
  index: number
  count: number
}

/**
 * Creates buckets that all API processes share. Requests of the same moment go to Redis in one call. Equal requests read and write
 * their buckets once, and are granted in the order of their arrival.
 *
 * @param prefix of the buckets' keys
 */
export function createSharedBuckets(redis: Redis, prefix: string) {
  redis.defineCommand('consumeTokens', { lua: consumeTokensScript })
  const { consumeTokens } = redis as unknown as {
    consumeTokens(count: number, ...keysAndSizes: (string | number)[]): Promise<number[]>
  }
  const consume = async (requests: TokenRequest[]): Promise<Consumption[]> => {
    const groups = new Map<string, Group>()
    const positions = requests.map((request) => joinGroup(request, groups))
    const keys: string[] = []
    const sizes: number[] = []
    for (const { buckets, tokens, count } of groups.values()) {
      sizes.push(buckets.length, tokens, count)
      for (const { key, perMinute, burst } of buckets) {
        keys.push(prefix + key)
        sizes.push(tokenInterval(perMinute), burst)
      }
    }
    const results = await consumeTokens.call(redis, keys.length, ...keys, ...sizes)
    return positions.map(({ group, position }) => {
      const first = figuresPerGroup * group.index
      return readResult(results.slice(first, first + figuresPerGroup), group.tokens, position)
    })
  }
  return createBatcher(consume, { pauseMs })
}

function joinGroup(request: TokenRequest, groups: Map<string, Group>): { group: Group; position: number } {
  let name = String(request.tokens)
  for (const { key } of request.buckets) name += ` ${key}`
  const group = groups.get(name) ?? { ...request, index: groups.size, count: 0 }
  groups.set(name, group)
  return { group, position: group.count++ }
}

/** @param position of the request in its group */
function readResult(figures: number[], tokens: number, position: number): Consumption {
  const [granted = 0, fewest = 0, fewestLeft = 0, slowest = 0, slowestLeft = 0, waitMs = 0] = figures
  return position < granted
    ? {
        isRefused: false,
        index: fewest,
        // All buckets of the group lose as many tokens with each request.
        remaining: fewestLeft + tokens * (granted - 1 - position),
        waitMs: 0,
      }
    : { isRefused: true, index: slowest, remaining: slowestLeft, waitMs }
}
