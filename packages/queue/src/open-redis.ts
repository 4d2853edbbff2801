import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Redis, type RedisOptions } from 'ioredis'

export type { Redis }

/**
 * What a connection does while Redis is away.
 *
 * - `fail at once`: every call fails until Redis is back, and within 2 s where Redis is paused and not just gone. Calls never wait for a
 *   connection: ioredis would send them later, also those that have failed meanwhile
 * - `wait`: calls wait until Redis is back, for consumers
 */
const policies = {
  'fail at once': {
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
    connectTimeout: 2_000,
    enableOfflineQueue: false,
  },
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
  options: Pick<
    RedisOptions,
    'autoResubscribe' | 'enableAutoPipelining' | 'autoResendUnfulfilledCommands'
  > = {},
): Redis {
  const redis = new Redis(url, { ...policies[policy], ...options })
  // Each call that fails meanwhile reports it; without a listener the process would end.
  redis.on('error', () => {})
  return redis
}

/** Waits until Redis responds, but not for ever (ms): a process starts without it, too. */
export async function waitForRedis(redis: Redis, withinMs: number): Promise<void> {
  if (redis.status === 'ready') return
  await Promise.race([once(redis, 'ready'), setTimeout(withinMs, undefined, { ref: false })]).catch(() => {})
}
