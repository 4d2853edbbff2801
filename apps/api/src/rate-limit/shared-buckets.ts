import { createBatcher } from '@automation/database'
import type { Redis } from 'ioredis'
import type { Bucket } from '../config.js'
import { type Consumption, tokenInterval } from './token-bucket.js'

/**
 * Consumes tokens from buckets in Redis, by its own clock, so that all API processes agree. KEYS are buckets, the same one possibly
 * several times. ARGV for each: the interval of one token in microseconds, the burst, the tokens of one request (all or none), the
 * number of such requests. Returns for each: the number of granted requests, the whole tokens left after them, and the milliseconds
 * until the next request would be granted.
 */
const consumeTokensScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local results = {}
for i, key in ipairs(KEYS) do
  local interval, burst, tokens, requests =
    tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2]), tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i])
  local each = interval * tokens
  local fullAt = math.max(tonumber(redis.call('GET', key) or now), now)
  local room = now + interval * burst - fullAt
  local granted = math.max(0, math.min(requests, math.floor(room / each)))
  if granted > 0 then
    fullAt, room = fullAt + each * granted, room - each * granted
    redis.call('SET', key, string.format('%.0f', fullAt), 'PX', math.ceil((fullAt - now) / 1000) + 1)
  end
  results[3 * i - 2], results[3 * i - 1], results[3 * i] =
    granted, math.floor(room / interval), math.ceil((each - room) / 1000)
end
return results
`

interface TokenRequest {
  key: string
  bucket: Bucket
  tokens: number
}

/** Equal requests of the same moment: for the same bucket, and for as many tokens each. */
interface Group extends TokenRequest {
  index: number
  count: number
}

/**
 * Creates buckets that all API processes share. Requests of the same moment go to Redis in one call. Equal requests read and write
 * their bucket once, and are granted in the order of their arrival.
 *
 * @param prefix of the buckets' keys
 */
export function createSharedBuckets(redis: Redis, prefix: string) {
  redis.defineCommand('consumeTokens', { lua: consumeTokensScript })
  const { consumeTokens } = redis as unknown as {
    consumeTokens(count: number, ...keysAndSizes: (string | number)[]): Promise<number[]>
  }
  return createBatcher(async (requests: TokenRequest[]): Promise<Consumption[]> => {
    const groups = new Map<string, Group>()
    const positions = requests.map((request) => joinGroup(request, groups))
    const all = [...groups.values()]
    const keys = all.map(({ key }) => prefix + key)
    const sizes = all.flatMap(({ bucket: { perMinute, burst }, tokens, count }) => [
      tokenInterval(perMinute),
      burst,
      tokens,
      count,
    ])
    const results = await consumeTokens.call(redis, keys.length, ...keys, ...sizes)
    return positions.map(({ group, position }): Consumption => {
      const [granted = 0, left = 0, waitMs = 0] = results.slice(3 * group.index)
      return position < granted
        ? { isRefused: false, remaining: left + group.tokens * (granted - 1 - position), waitMs: 0 }
        : { isRefused: true, remaining: 0, waitMs }
    })
  })
}

function joinGroup(request: TokenRequest, groups: Map<string, Group>): { group: Group; position: number } {
  const name = `${request.tokens} ${request.key}`
  const group = groups.get(name) ?? { ...request, index: groups.size, count: 0 }
  groups.set(name, group)
  return { group, position: group.count++ }
}
