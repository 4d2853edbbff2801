import type { Redis } from 'ioredis'

/**
 * The commands without which jobs, replies or rate limits do not work, with as many arguments as each needs. They are sent by us and by
 * BullMQ, or called in scripts, for which Redis asks for the same permission.
 */
const needed = [
  ...['del', 'exists', 'get', 'hgetall', 'incr', 'llen', 'mget', 'pttl', 'rpop', 'scard', 'smembers'].map(
    withKey,
  ),
  ...['zcard', 'zpopmin'].map(withKey),
  ...['bzpopmin', 'hdel', 'hexists', 'hget', 'hmget', 'lindex', 'lpush', 'pexpire'].map(withValue),
  ...['sadd', 'set', 'srem', 'zrem', 'zscore'].map(withValue),
  ...['hincrby', 'hmset', 'hset', 'lrange', 'lrem', 'ltrim', 'zadd', 'zcount', 'zrange'].map(withValues),
  ...['zrangebyscore', 'zremrangebyrank', 'zremrangebyscore', 'zrevrange', 'zrevrangebyscore'].map(
    withValues,
  ),
  ...[
    ['subscribe', 'channel'],
    ['publish', 'channel', '1'],
  ],
  ...[['evalsha', '0', '0'], ['exec'], ['info'], ['multi'], ['ping'], ['time']],
  ...[
    ['rpoplpush', 'key', 'key'],
    ['xadd', 'key', '*', '1', '1'],
    ['xtrim', 'key', 'MAXLEN', '1'],
  ],
]

/** By name. The check itself is an EVAL. */
export const neededCommands = ['eval', ...needed.map(([name = '']) => name)]

/** Nothing is run. A command that this Redis does not know is missing, too. */
const check = `
local missing = {}
for _, text in ipairs(ARGV) do
  local command = cjson.decode(text)
  for index, word in ipairs(command) do
    if word == 'key' then command[index] = KEYS[1] end
  end
  local isKnown, isAllowed = pcall(redis.acl_check_cmd, unpack(command))
  if not isKnown or not isAllowed then table.insert(missing, command[1]) end
end
return missing`

/**
 * Asks Redis which of the commands that the service needs this user may not run on its keys and channels. A server that has no answer to that
 * counts as one that allows all.
 *
 * @param prefix of the keys
 * @param channels prefix of the channels
 * @returns the names of commands
 */
export async function findMissingCommands(redis: Redis, prefix: string, channels: string): Promise<string[]> {
  const commands = needed.map((command) =>
    JSON.stringify(command.map((word) => (word === 'channel' ? `${channels}:permissions` : word))),
  )
  try {
    return (await redis.eval(check, 1, `${prefix}:permissions`, ...commands)) as string[]
  } catch (error) {
    return /^NOPERM/.test((error as Error).message) ? ['eval'] : []
  }
}

function withKey(name: string): string[] {
  return [name, 'key']
}

function withValue(name: string): string[] {
  return [...withKey(name), '1']
}

function withValues(name: string): string[] {
  return [...withValue(name), '1']
}
