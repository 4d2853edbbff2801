import { type JobType, Queue, type QueueOptions } from 'bullmq'
import type { Redis } from 'ioredis'
import { type JobData, type JobName, jobOptions, queueName } from './jobs.js'

export type JobQueue = Queue<JobData, void, JobName>

/**
 * Opens BullMQ's queue. It asks Redis for its version once, when it is created, and is useless for ever if that fails: a caller that
 * gets a rejection has to open another one.
 */
export async function openJobQueue(
  connection: Redis,
  prefix: string,
  options: Partial<QueueOptions> = {},
): Promise<JobQueue> {
  const queue: JobQueue = new Queue(queueName, {
    connection,
    prefix,
    skipWaitingForReady: true,
    defaultJobOptions: jobOptions,
    ...options,
  })
  queue.on('error', () => {})
  try {
    await queue.waitUntilReady()
    return queue
  } catch (error) {
    queue.close().catch(() => {})
    throw error
  }
}

/** @returns the number of jobs of all queues, by state. @throws where Redis is away */
export async function countJobs(
  queues: JobQueue[],
  states: readonly JobType[],
): Promise<Record<string, number>> {
  const counts = await Promise.all(queues.map((queue) => queue.getJobCounts(...states)))
  return Object.fromEntries(
    states.map((state) => [state, counts.reduce((sum, { [state]: count = 0 }) => sum + count, 0)]),
  )
}
