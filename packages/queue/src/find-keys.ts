import { openRedis, waitForRedis } from './open-redis.js'

const timeoutMs = 2_000

/**
 * Looks for keys of this service in Redis.
 *
 * @returns some of them; or why Redis is unavailable
 */
export async function findKeys(redisUrl: string, prefix: string): Promise<string[] | string> {
  const redis = openRedis(redisUrl, prefix, 'fail at once')
  try {
    const fault = await waitForRedis(redis, timeoutMs)
    if (fault !== undefined) return fault
    // The hash tags of further queues go on with a colon (queue-names.ts).
    const pattern = `${prefix.replace(/[*?[\]\\^]/g, '\\$&').replace(/(\{[^}]+)\}/, '$1[:}]')}*`
    for (let cursor = '0'; ; ) {
      const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000)
      if (keys.length > 0 || next === '0') return keys
      cursor = next
    }
  } finally {
    redis.disconnect()
  }
}
