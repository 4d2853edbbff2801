import { setTimeout } from 'node:timers/promises'
import { createBatcher } from '@automation/database'
import type { JobsOptions, JobType } from 'bullmq'
import type { Redis } from 'ioredis'
import { findMissingCommands } from './find-missing-commands.js'
import type { JobData, JobName } from './jobs.js'
import { type JobQueue, openJobQueue } from './open-queue.js'
import { describeAway } from './open-redis.js'

export interface QueueJob {
  id: string
  name: JobName
  data: JobData
  /** 0 is the highest; fair-share.ts. */
  priority: number
  delayMs: number
}

type JobState = 'unknown' | 'queued' | 'finished' | 'postponed'

const reopenPauseMs = 200
/** A job that should run now, and waits for a time that is further away (ms), was added by a process whose clock is ahead: no pause is as long. */
const longestPauseMs = 30_000
/** BullMQ's scores of delayed jobs are their times, with a number below this one. */
const scoresPerMs = 0x1000
const unfinished: JobType[] = ['waiting', 'prioritized', 'active', 'delayed']

interface Options {
  /** Prefix of the channels of the service. */
  channels: string
  /** false: other processes add jobs, and this one looks after what they have left. */
  isOwn: boolean
  /** Is repeated until it succeeds, and no job is added before. */
  prepare?(queue: JobQueue): Promise<void>
}

/** One queue of BullMQ, on a connection of its own. Its calls fail at once while Redis is away. */
export class RedisQueue {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #options: Options
  readonly #readState = createBatcher((ids: string[]) => Promise.all(ids.map((id) => this.#readJob(id))))
  #opened: JobQueue | undefined
  /** Why a connection that is ready is of no use. */
  #fault: string | undefined
  #missingCommands: string[] = []
  #isClosed = false

  constructor(redis: Redis, prefix: string, options: Options) {
    this.#redis = redis
    this.#prefix = prefix
    this.#options = options
    redis.once('ready', () => void this.#open())
  }

  /** Waits for Redis. @returns whether it is there within the time (ms) */
  async isReady(withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs
    while (!this.#opened && Date.now() < deadline) await setTimeout(20)
    return this.#opened !== undefined
  }

  /**
   * @returns why Redis cannot be used; undefined if it is there within the time (ms)
   * @throws if its user may not run a command that is needed: to wait does not help
   */
  async findFault(withinMs: number): Promise<string | undefined> {
    if (await this.isReady(withinMs)) return undefined
    const fault = describeAway(this.#redis, this.#fault)
    if (this.#missingCommands.length > 0) throw new Error(fault)
    return fault
  }

  /** @throws where Redis is away */
  get queue(): JobQueue {
    if (!this.#opened) throw new Error('Redis is unavailable')
    return this.#opened
  }

  async add({ id, name, data, priority, delayMs }: QueueJob): Promise<void> {
    const { queue } = this
    this.#holdWrites()
    const options: JobsOptions = { jobId: id }
    if (delayMs > 0) options.delay = delayMs
    if (priority > 0) options.priority = priority
    await queue.add(name, data, options)
  }

  /**
   * Makes room for a job that should run now, and brings it forward if it waits.
   *
   * @returns `free` if it may be added; otherwise whether it was brought forward
   */
  async reserve(id: string): Promise<'free' | 'queued' | 'promoted'> {
    const state = await this.#readState(id)
    if (state === 'postponed') return (await this.#bringForward(id)) ? 'promoted' : 'queued'
    if (state === 'queued') return 'queued'
    // A finished job keeps its id for a while, and BullMQ ignores a job whose id is known: first remove it.
    if (state === 'finished') await this.queue.remove(id)
    return 'free'
  }

  /** Whether there is a job that is not finished. @throws where Redis is away */
  async hasJobs(): Promise<boolean> {
    return Object.values(await this.queue.getJobCounts(...unfinished)).some((count) => count > 0)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opened?.close()
    this.#redis.disconnect()
  }

  async #open(): Promise<void> {
    const { channels, isOwn, prepare } = this.#options
    let queue: JobQueue | undefined
    while (!this.#isClosed && this.#opened === undefined) {
      try {
        this.#missingCommands = isOwn ? await findMissingCommands(this.#redis, this.#prefix, channels) : []
        if (this.#missingCommands.length > 0)
          throw new Error(
            `the user may not run ${this.#missingCommands.join(', ')} with the prefix ${this.#prefix}`,
          )
        queue ??= await openJobQueue(this.#redis, this.#prefix, { skipMetasUpdate: !isOwn })
        await prepare?.(queue)
        this.#opened = queue
      } catch (error) {
        this.#fault = this.#redis.status === 'ready' ? (error as Error).message : undefined
        await setTimeout(reopenPauseMs, undefined, { ref: false })
      }
    }
  }

  /** @returns false where a worker has taken it meanwhile */
  async #bringForward(id: string): Promise<boolean> {
    const job = await this.queue.getJob(id)
    return job === undefined
      ? false
      : job.promote().then(
          () => true,
          () => false,
        )
  }

  /**
   * Reads the state from fields of the job, which BullMQ writes together with its lists. BullMQ's getJobState walks the lists:
   * where 100,000 jobs wait, a sweep of 10,000 would block Redis for seventeen seconds.
   */
  async #readJob(id: string): Promise<JobState> {
    const key = this.queue.toKey(id)
    this.#holdWrites()
    const [addedAt, finishedAt, delay] = await this.#redis.hmget(key, 'timestamp', 'finishedOn', 'delay')
    if (finishedAt) return 'finished'
    if (!addedAt) return 'unknown'
    return Number(delay) > 0 && (await this.#isFarAway(id)) ? 'postponed' : 'queued'
  }

  /** Delays are times of the clocks of the processes that add jobs, and of the workers that take them. */
  async #isFarAway(id: string): Promise<boolean> {
    const score = await this.#redis.zscore(this.queue.toKey('delayed'), id)
    return score !== null && Number(score) / scoresPerMs > Date.now() + longestPauseMs
  }

  /**
   * Many jobs are added in one turn of the event loop, when the commit that they share is done. They are sent in one write, which
   * saves a third of the cost of adding a job.
   */
  #holdWrites(): void {
    const { stream } = this.#redis
    if (stream.writableCorked > 0) return
    stream.cork()
    setImmediate(() => stream.uncork())
  }
}
