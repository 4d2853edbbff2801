import { logOutages, openRedis, type Redis, waitForRedis } from '@automation/queue/open-redis'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** For data that the API does not depend on: a call fails within half a second, and at once where Redis is known to be away. */
    redis: Redis
    /**
     * Waits for Redis for a short time. While it is away, each process limits rates by itself.
     *
     * @throws if its user may not run a command that is needed
     */
    waitForRedis(): Promise<void>
  }
}

const startUpMs = 2_000
const meanwhile = 'events are still accepted, and the sweeper adds their jobs later'

/** The connection for rate limits and known webhooks. Commands of one turn of the event loop are sent in one write. */
export default fp<{ redisUrl: string; queuePrefix: string }>(
  async (app, { redisUrl, queuePrefix }) => {
    const redis = openRedis(redisUrl, queuePrefix, 'fail at once', {
      enableAutoPipelining: true,
      commandTimeout: 500,
      // Shorter than the command timeout, so that Redis already counts as away when a call fails.
      socketTimeout: 400,
    })
    logOutages(redis, app.log, meanwhile)
    app.decorate('redis', redis)
    app.addHook('onClose', async () => redis.disconnect())
    app.decorate('waitForRedis', async () => {
      const fault = await app.queue.findFault(startUpMs)
      if (fault !== undefined) return app.log.warn(`${fault}; ${meanwhile}`)
      await waitForRedis(redis, startUpMs)
    })
  },
  { name: 'redis', dependencies: ['resources'] },
)
