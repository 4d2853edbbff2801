import { Redis, type RedisOptions } from 'ioredis'

const failFast = { maxRetriesPerRequest: 1, commandTimeout: 2_000 }

/**
 * What a connection does while Redis is away. `commandTimeout` ends a call to a Redis that is paused and not just gone.
 *
 * - `fail at once`: every call fails until Redis is back, for work that something else makes up for
 * - `fail fast`: a call waits for the first connection, and 2 s at most
 * - `wait`: calls wait until Redis is back, for consumers
 */
const policies = {
  'fail at once': { ...failFast, enableOfflineQueue: false, connectTimeout: 2_000 },
  'fail fast': { ...failFast, enableAutoPipelining: true },
  wait: { maxRetriesPerRequest: null },
} as const satisfies Record<string, RedisOptions>

/**
 * Opens a connection to Redis that reconnects by itself.
 *
 * @param options in addition to the policy's
 */
export function openRedis(
  url: string,
  policy: keyof typeof policies,
  options: { autoResubscribe?: boolean } = {},
): Redis {
  const redis = new Redis(url, { ...policies[policy], ...options })
  // Each call that fails meanwhile reports it; without a listener the process would end.
  redis.on('error', () => {})
  return redis
}
