import { Redis, type RedisOptions } from 'ioredis'

export type { Redis }

/**
 * What a connection does while Redis is away.
 *
 * - `fail at once`: every call fails until Redis is back. ioredis would keep calls for later, also those that have failed meanwhile: so none
 *   waits for a connection, and none is sent again when its connection has broken (`maxRetriesPerRequest`). A Redis that does not
 *   respond within 1.8 s loses its connection, and counts as away until it responds again; so does one that a failover made a replica
 * - `wait`: calls wait until Redis is back, for consumers. A line on which a call has got no response for 15 s is given up, and the call
 *   sent again on a new one: otherwise it waits for as long as the system takes a silent line for good, which is a quarter of an hour
 *   where it has something to send, and for ever where it has not. BullMQ's blocking calls return within 10 s.
 */
const policies = {
  'fail at once': {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: 1_800,
    commandTimeout: 2_000,
    connectTimeout: 2_000,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    retryStrategy: (times: number) => Math.min(50 * 2 ** (times - 1), 1_000),
  },
  wait: { maxRetriesPerRequest: null, socketTimeout: 15_000 },
} as const satisfies Record<string, RedisOptions>

/**
 * Opens a connection to Redis that reconnects by itself.
 *
 * @param options in addition to the policy's, or instead of them; times in ms
 */
export function openRedis(
  url: string,
  policy: keyof typeof policies,
  options: Pick<
    RedisOptions,
    'autoResubscribe' | 'commandTimeout' | 'enableAutoPipelining' | 'socketTimeout'
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
  let isEnough = () => {}
  await new Promise<void>((resolve) => {
    isEnough = resolve
    redis.once('ready', resolve)
    setTimeout(resolve, withinMs).unref()
  })
  redis.off('ready', isEnough)
}
