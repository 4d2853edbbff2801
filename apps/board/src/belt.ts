import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { type JobData, type JobName, jobOptions, queueName } from '@automation/jobs'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'

export type BeltQueue = Queue<JobData, void, JobName>
export type Belt = ReturnType<typeof openBelt>

/** Somebody is looking at a page: a Redis that takes longer (ms) counts as away. */
const patienceMs = 2_000

/** The belt as a spectator sees it. Nothing waits for a Redis that is gone, and nothing waits long for one that is paused. */
export function openBelt(redisUrl: string, prefix: string) {
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: patienceMs,
    connectTimeout: patienceMs,
  })
  // Lost connections come back by themselves; who asks meanwhile is told.
  redis.on('error', () => {})
  let opened: Promise<BeltQueue> | undefined

  /** BullMQ's queue asks Redis for its version once, at its birth, and is of no use for ever if that fails: so again. */
  async function open(): Promise<BeltQueue> {
    const queue: BeltQueue = new Queue(queueName, {
      connection: redis,
      prefix,
      // Whoever only looks on writes nothing, not even the version that it speaks.
      skipMetasUpdate: true,
      skipWaitingForReady: true,
      // For jobs that somebody adds by hand.
      defaultJobOptions: jobOptions,
    })
    queue.on('error', () => {})
    await queue.waitUntilReady()
    return queue
  }

  return {
    /** Waits for Redis, but not for ever: without it there is something to tell, too. */
    async connect(): Promise<void> {
      if (redis.status === 'ready') return
      await Promise.race([once(redis, 'ready'), setTimeout(patienceMs, undefined, { ref: false })]).catch(
        () => {},
      )
    },
    /** Asks Redis each time. undefined: it is away. */
    async findQueue(): Promise<BeltQueue | undefined> {
      try {
        await redis.ping()
        opened ??= open().catch((error) => {
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
