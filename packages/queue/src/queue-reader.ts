import { type JobQueue, openJobQueue } from './open-queue.js'
import { openRedis, waitForRedis } from './open-redis.js'

export type QueueReader = ReturnType<typeof openQueueReader>

/** Somebody looks at a page: a Redis that takes longer (ms) counts as away. */
const timeoutMs = 2_000

/** Opens the queue for somebody who looks on. Nothing waits for a Redis that is gone, and nothing waits long for a paused one. */
export function openQueueReader(redisUrl: string, prefix: string) {
  const redis = openRedis(redisUrl, prefix, 'fail at once')
  let opened: Promise<JobQueue> | undefined

  return {
    /** Waits a moment for Redis: without it there is something to present, too. @returns why it is away, if it still is */
    connect: () => waitForRedis(redis, timeoutMs),
    /** Asks Redis each time. @returns undefined where it is away */
    async findQueue(): Promise<JobQueue | undefined> {
      try {
        await redis.ping()
        // A reader writes nothing, not even the version that it speaks.
        opened ??= openJobQueue(redis, prefix, { skipMetasUpdate: true }).catch((error) => {
          opened = undefined
          throw error
        })
        return await opened
      } catch {
        return undefined
      }
    },
    async close(): Promise<void> {
      await opened?.then((queue) => queue.close()).catch(() => {})
      redis.disconnect()
    },
  }
}
