import { jobStates } from './jobs.js'
import { countJobs, type JobQueue, openJobQueue } from './open-queue.js'
import { openRedis, type Redis, waitForRedis } from './open-redis.js'
import { readQueueCounts } from './queue-counts.js'
import { prefixOf } from './queue-names.js'

export type QueueReader = ReturnType<typeof openQueueReader>

/** Somebody looks at a page: a Redis that takes longer (ms) counts as away. */
const timeoutMs = 2_000

/** Opens all queues for somebody who looks on. Nothing waits for a Redis that is gone, and nothing waits long for a paused one. */
export function openQueueReader(redisUrl: string, prefix: string) {
  const connections: Redis[] = []
  const open = (index: number) => {
    const redis = openRedis(redisUrl, prefixOf(prefix, index), 'fail at once')
    connections.push(redis)
    return redis
  }
  const first = open(0)
  /** By index. */
  const opened: (Promise<JobQueue> | undefined)[] = []

  return {
    /** Waits a moment for Redis: without it there is something to present, too. @returns why it is away, if it still is */
    connect: () => waitForRedis(first, timeoutMs),
    /** Asks Redis each time. @returns those of living processes, and others up to the last one that has jobs; undefined where it is away */
    async findQueues(): Promise<JobQueue[] | undefined> {
      try {
        const { present, known } = await readQueueCounts(first, prefix)
        const queues = await Promise.all(Array.from({ length: known }, (_, index) => findQueue(index)))
        const haveJobs = await Promise.all(queues.slice(present).map(hasJobs))
        return queues.slice(0, present + haveJobs.lastIndexOf(true) + 1)
      } catch {
        return undefined
      }
    },
    async close(): Promise<void> {
      await Promise.allSettled(opened.map(async (queue) => (await queue)?.close()))
      for (const redis of connections) redis.disconnect()
    },
  }

  async function findQueue(index: number): Promise<JobQueue> {
    const redis = connections[index] ?? open(index)
    if (index > 0) {
      const fault = await waitForRedis(redis, timeoutMs)
      if (fault !== undefined) throw new Error(fault)
    }
    // A reader writes nothing, not even the version that it speaks.
    opened[index] ??= openJobQueue(redis, prefixOf(prefix, index), { skipMetasUpdate: true }).catch(
      (error) => {
        opened[index] = undefined
        throw error
      },
    )
    return opened[index]
  }
}

async function hasJobs(queue: JobQueue): Promise<boolean> {
  return Object.values(await countJobs([queue], jobStates)).some((count) => count > 0)
}
