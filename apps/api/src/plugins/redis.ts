import { waitForRedis } from '@automation/queue/open-redis'
import fp from 'fastify-plugin'
import { Redis } from 'ioredis'

declare module 'fastify' {
  interface FastifyInstance {
    /** For data that the API does not depend on: a call fails within half a second, and at once where Redis is known to be away. */
    redis: Redis
    /** Waits for Redis for a short time. While it is away, each process limits rates by itself. */
    waitForRedis(): Promise<void>
  }
}

const startUpMs = 2_000

/** The connection for rate limits and known webhooks. Commands of one turn of the event loop are sent in one write. */
export default fp<{ redisUrl: string }>(
  async (app, { redisUrl }) => {
    const redis = new Redis(redisUrl, {
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      maxRetriesPerRequest: 0,
      commandTimeout: 500,
      // Closes the connection to a Redis that does not respond, so that later calls fail at once: a new connection is not used before
      // Redis has responded. It is shorter than the command timeout, so that Redis already counts as away when a call fails.
      socketTimeout: 400,
    })
    redis.on('error', () => {})
    app.decorate('redis', redis)
    app.addHook('onClose', async () => redis.disconnect())
    app.decorate('waitForRedis', async () => {
      if (!(await app.queue.isReady(startUpMs)))
        return app.log.warn('Redis is away; events are accepted, and the sweeper adds their jobs later')
      await waitForRedis(redis, startUpMs)
    })
  },
  { name: 'redis', dependencies: ['resources'] },
)
