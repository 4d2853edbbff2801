import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { Redis } from 'ioredis'

declare module 'fastify' {
  interface FastifyInstance {
    /** For what the API can do without: each call fails within half a second, and at once where Redis is known to be away. */
    redis: Redis
    /** Until Redis is there each process counts its rates by itself; it is waited for, but not for ever. */
    waitForRedis(): Promise<void>
  }
}

const startUpMs = 2_000

/** The connection of the rate limits and of the known webhooks; what is asked in one turn of the event loop goes in one write. */
export default fp<{ redisUrl: string }>(
  async (app, { redisUrl }) => {
    const redis = new Redis(redisUrl, {
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      maxRetriesPerRequest: 1,
      commandTimeout: 500,
      // A Redis that is there and says nothing is as good as gone: without its connection no other call waits for it. A new one
      // is of no use before Redis has spoken. Sooner than a call gives up, so that whoever comes then finds it gone.
      socketTimeout: 400,
    })
    redis.on('error', () => {})
    app.decorate('redis', redis)
    app.addHook('onClose', async () => redis.disconnect())
    app.decorate('waitForRedis', async () => {
      if (!(await app.queue.isReady(startUpMs)))
        return app.log.warn('Redis is away; events are accepted, and the sweeper adds their jobs later')
      if (redis.status !== 'ready')
        await Promise.race([once(redis, 'ready'), setTimeout(startUpMs, undefined, { ref: false })]).catch(
          () => {},
        )
    })
  },
  { name: 'redis', dependencies: ['resources'] },
)
