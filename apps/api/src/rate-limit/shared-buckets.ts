import { createBatcher } from '@automation/database'
import type { Redis } from 'ioredis'
import type { Bucket } from '../config.js'
import { type Draw, tokenInterval } from './token-bucket.js'

/**
 * Draws from buckets in Redis, by its own clock, so that all API processes agree. KEYS are buckets, be it the same one
 * again; ARGV, for each: interval of one token in microseconds, burst, how many tokens a draw takes (all of them or none),
 * how many draws. Answers for each: how many draws were granted, whole tokens left after them, and milliseconds until the
 * next one would be granted.
 */
const drawTokensScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local answers = {}
for i, key in ipairs(KEYS) do
  local interval, burst, tokens, draws =
    tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2]), tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i])
  local each = interval * tokens
  local fullAt = math.max(tonumber(redis.call('GET', key) or now), now)
  local room = now + interval * burst - fullAt
  local granted = math.max(0, math.min(draws, math.floor(room / each)))
  if granted > 0 then
    fullAt, room = fullAt + each * granted, room - each * granted
    redis.call('SET', key, string.format('%.0f', fullAt), 'PX', math.ceil((fullAt - now) / 1000) + 1)
  end
  answers[3 * i - 2], answers[3 * i - 1], answers[3 * i] =
    granted, math.floor(room / interval), math.ceil((each - room) / 1000)
end
return answers
`

interface Wish {
  key: string
  bucket: Bucket
  tokens: number
}

/** Wishes of one moment that are alike: from the same bucket, as many tokens each. */
interface Group extends Wish {
  place: number
  draws: number
}

/**
 * Buckets that all API processes share. Draws of the same moment go to Redis in one call; those that are alike read and
 * write their bucket once, and are granted in the order in which they came.
 *
 * @param prefix of the buckets' keys
 */
export function createSharedBuckets(redis: Redis, prefix: string) {
  redis.defineCommand('drawTokens', { lua: drawTokensScript })
  const { drawTokens } = redis as unknown as {
    drawTokens(count: number, ...keysAndSizes: (string | number)[]): Promise<number[]>
  }
  return createBatcher(async (wishes: Wish[]): Promise<Draw[]> => {
    const groups = new Map<string, Group>()
    const turns = wishes.map((wish) => takeTurn(wish, groups))
    const all = [...groups.values()]
    const keys = all.map(({ key }) => prefix + key)
    const sizes = all.flatMap(({ bucket: { perMinute, burst }, tokens, draws }) => [
      tokenInterval(perMinute),
      burst,
      tokens,
      draws,
    ])
    const answers = await drawTokens.call(redis, keys.length, ...keys, ...sizes)
    return turns.map(({ group, turn }): Draw => {
      const [granted = 0, left = 0, waitMs = 0] = answers.slice(3 * group.place)
      return turn < granted
        ? { isRefused: false, remaining: left + group.tokens * (granted - 1 - turn), waitMs: 0 }
        : { isRefused: true, remaining: 0, waitMs }
    })
  })
}

function takeTurn(wish: Wish, groups: Map<string, Group>): { group: Group; turn: number } {
  const name = `${wish.tokens} ${wish.key}`
  const group = groups.get(name) ?? { ...wish, place: groups.size, draws: 0 }
  groups.set(name, group)
  return { group, turn: group.draws++ }
}
