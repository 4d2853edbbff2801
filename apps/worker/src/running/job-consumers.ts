import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { isDatabaseAway } from '@automation/database'
import {
  type JobData,
  type JobName,
  logOutages,
  openRedis,
  prefixOf,
  queueName,
  stallOptions,
} from '@automation/queue'
import { type Job, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import type { JobRunner } from './job-runner.js'

interface Parts {
  redisUrl: string
  queuePrefix: string
  /** Jobs at a time, of all queues together. */
  concurrency: number
  jobs: Pick<JobRunner, 'run'>
  metrics: WorkerMetrics
  log: Logger
}

type QueuedJob = Job<JobData, void, JobName>

/** How long (ms) after a refusal to ask again. */
const refusedMs = 500

/** BullMQ asks again at once where Redis responds, and refuses: its memory or disk is full, or the user may not use the keys. */
class PatientWorker extends Worker<JobData, void, JobName> {
  protected override async moveToActive(...asked: [token: string, name?: string]) {
    try {
      return await super.moveToActive(...asked)
    } catch (error) {
      await setTimeout(refusedMs)
      throw error
    }
  }
}

interface Consumer {
  worker: PatientWorker
  redis: Redis
  /** Jobs that it has and that have not ended. */
  held: number
}

/**
 * Takes jobs from each queue, as long as it is in use, with a worker of BullMQ. They share the places for jobs: a queue that has jobs alone has all of
 * them, and among several the job runner lets them take turns.
 */
export class JobConsumers {
  readonly #parts: Parts
  /** By index of the queue. */
  readonly #consumers: Consumer[] = []
  /** Of queues that are not in use any more. */
  readonly #ending = new Set<Promise<void>>()
  #isPaused = false
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** @param queues how many are in use from now on */
  read(queues: number): void {
    const before = this.#consumers.length
    if (this.#isClosed || queues === before) return
    while (this.#consumers.length < queues) this.#consumers.push(this.#open(this.#consumers.length))
    for (const consumer of this.#consumers.splice(queues)) this.#end(consumer)
    this.#share()
    if (before > 0) this.#parts.log.info({ queues }, 'the number of queues in use has changed')
  }

  async ready(): Promise<void> {
    await Promise.all(this.#consumers.map(({ worker }) => worker.waitUntilReady()))
  }

  async pause(isAtOnce: true): Promise<void> {
    this.#isPaused = true
    await Promise.all(this.#consumers.map(({ worker }) => worker.pause(isAtOnce)))
  }

  async resume(): Promise<void> {
    this.#isPaused = false
    for (const { worker } of this.#consumers) worker.resume()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const consumer of this.#consumers) this.#end(consumer)
    await Promise.all(this.#ending)
  }

  #open(index: number): Consumer {
    const { redisUrl, queuePrefix, concurrency, metrics, log } = this.#parts
    const prefix = prefixOf(queuePrefix, index)
    const redis = openRedis(redisUrl, prefix, 'wait')
    const run = (job: QueuedJob, token?: string): Promise<void> => this.#run(consumer, job, token)
    const worker = new PatientWorker(queueName, run, {
      // The board presents it as the holder of a job.
      name: `${hostname()}-${process.pid}`,
      connection: redis,
      prefix,
      concurrency,
      ...stallOptions,
    })
    const consumer: Consumer = { worker, redis, held: 0 }
    if (this.#isPaused) void worker.pause(true)
    logOutages(redis, log, `jobs${index === 0 ? '' : ` of queue ${index}`} wait until it is back`)
    // While Redis is away, logOutages has logged it.
    worker.on('error', (error) => {
      if (redis.status === 'ready') log.warn({ err: error }, 'queue error')
    })
    // Without Postgres jobs fail, and come back: the intake logs it once.
    worker.on('failed', (job, error) => {
      metrics.jobsFailed.inc()
      const level = isDatabaseAway(error) ? 'debug' : 'error'
      log[level]({ err: error, ...(job && idsOf(job.data)) }, 'job failed')
    })
    return consumer
  }

  async #run(consumer: Consumer, job: QueuedJob, token?: string): Promise<void> {
    consumer.held++
    this.#share()
    try {
      await this.#parts.jobs.run(job, token)
    } finally {
      consumer.held--
      this.#share()
    }
  }

  /** What this worker cannot run, other workers should take: each queue has its share of the places, and what others leave free. */
  #share(): void {
    const { concurrency } = this.#parts
    const busy = this.#consumers.filter(({ held }) => held > 0).length
    const all = this.#consumers.reduce((sum, { held }) => sum + held, 0)
    for (const { worker, held } of this.#consumers) {
      const share = Math.ceil(concurrency / (held > 0 ? busy : busy + 1))
      worker.concurrency = Math.max(share, concurrency - (all - held))
    }
  }

  #end({ worker, redis }: Consumer): void {
    // Without Redis there is nothing to hand back, and asking it would hold the process.
    const ended = worker
      .close(redis.status !== 'ready')
      .catch((error) => this.#parts.log.warn({ err: error }, 'queue error'))
      .then(() => {
        redis.disconnect()
        this.#ending.delete(ended)
      })
    this.#ending.add(ended)
  }
}

/** The fields that identify a job in log lines. */
function idsOf(data: JobData) {
  if ('events' in data) return { eventIds: data.events.map(({ id }) => id) }
  return { executionId: data.executionId, eventId: data.eventId }
}
