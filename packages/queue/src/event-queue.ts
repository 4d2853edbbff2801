import { setTimeout } from 'node:timers/promises'
import type { Owned } from '@automation/admission'
import { createBatcher, postgresNow } from '@automation/database'
import type { WokenExecution } from '@automation/ledger'
import type { JobsOptions } from 'bullmq'
import type { Redis } from 'ioredis'
import { createFairShare } from './fair-share.js'
import { findMissingCommands } from './find-missing-commands.js'
import { type JobData, type JobName, jobStates } from './jobs.js'
import { type JobQueue, openJobQueue } from './open-queue.js'
import { describeAway, openRedis } from './open-redis.js'
import { type Arrival, type EventsJob, type QueuedEvent, shareJobs } from './share-jobs.js'

/** An execution that is not finished, to be claimed when it is due. */
export interface DueExecution extends WokenExecution {
  /** Of its first span. */
  traceparent?: string | undefined
}

interface QueueJob {
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

/** Opens the producing end of the queue. Its calls fail at once while Redis is away: the sweeper adds the jobs that are missing. */
export function openQueue(redisUrl: string, prefix: string): EventQueue {
  return new EventQueue(openRedis(redisUrl, prefix, 'fail at once'), prefix)
}

export class EventQueue {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #findPriority = createFairShare()
  readonly #readState = createBatcher((ids: string[]) => Promise.all(ids.map((id) => this.#readJob(id))))
  #opened: JobQueue | undefined
  /** Why a connection that is ready is of no use. */
  #fault: string | undefined
  #missingCommands: string[] = []
  #isClosed = false

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis
    this.#prefix = prefix
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

  /** Distributes events over jobs, before one commit accepts them. */
  share(arrivals: Arrival[]): EventsJob[] {
    return shareJobs(arrivals, this.#findPriority)
  }

  add(job: EventsJob): Promise<void> {
    return this.#addJob(eventsJob(job))
  }

  /** Adds the job of events that rules have caused. */
  addCaused(events: [QueuedEvent, ...QueuedEvent[]]): Promise<void> {
    return this.#addJob(eventsJob(this.#jobOf(events[0].id, events)))
  }

  /** Adds the job that resumes an execution when it is due. */
  addDue(execution: DueExecution): Promise<void> {
    return this.#addJob(this.#resumeJob(execution))
  }

  /** Adds the job that carried events again, unless it is queued. @returns whether it did */
  restore(jobId: string, events: QueuedEvent[]): Promise<boolean> {
    return this.#restoreJob(jobId, () => eventsJob(this.#jobOf(jobId, events)))
  }

  restoreDue(execution: DueExecution): Promise<boolean> {
    return this.#restoreJob(resumeIdOf(execution), () => this.#resumeJob(execution))
  }

  /** The number of jobs by state. @throws where Redis is away */
  async countJobs(): Promise<Record<string, number>> {
    return this.#queue.getJobCounts(...jobStates)
  }

  /** Whether a job waits for any worker, also in a queue that is paused. @throws where Redis is away */
  async hasWaitingJobs(): Promise<boolean> {
    const counts = await this.#queue.getJobCounts('waiting', 'prioritized')
    return Object.values(counts).some((count) => count > 0)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opened?.close()
    this.#redis.disconnect()
  }

  async #open(): Promise<void> {
    while (!this.#isClosed && this.#opened === undefined) {
      try {
        this.#missingCommands = await findMissingCommands(this.#redis, this.#prefix)
        if (this.#missingCommands.length > 0)
          throw new Error(`the user may not run ${this.#missingCommands.join(', ')}`)
        this.#opened = await openJobQueue(this.#redis, this.#prefix)
      } catch (error) {
        this.#fault = this.#redis.status === 'ready' ? (error as Error).message : undefined
        await setTimeout(reopenPauseMs, undefined, { ref: false })
      }
    }
  }

  get #queue(): JobQueue {
    if (!this.#opened) throw new Error('Redis is unavailable')
    return this.#opened
  }

  async #addJob({ id, name, data, priority, delayMs }: QueueJob): Promise<void> {
    const queue = this.#queue
    this.#holdWrites()
    const options: JobsOptions = { jobId: id }
    if (delayMs > 0) options.delay = delayMs
    if (priority > 0) options.priority = priority
    await queue.add(name, data, options)
  }

  /** @param make finds its priority, which counts it: each sweep asks for what is queued already */
  async #restoreJob(id: string, make: () => QueueJob): Promise<boolean> {
    const state = await this.#readState(id)
    if (state === 'queued') return false
    if (state === 'postponed') return this.#bringForward(id)
    // A finished job keeps its id for a while, and BullMQ ignores a job whose id is known: first remove it.
    if (state === 'finished') await this.#queue.remove(id)
    await this.#addJob(make())
    return true
  }

  /** @returns false where a worker has taken it meanwhile */
  async #bringForward(id: string): Promise<boolean> {
    const job = await this.#queue.getJob(id)
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
    const key = this.#queue.toKey(id)
    this.#holdWrites()
    const [addedAt, finishedAt, delay] = await this.#redis.hmget(key, 'timestamp', 'finishedOn', 'delay')
    if (finishedAt) return 'finished'
    if (!addedAt) return 'unknown'
    return Number(delay) > 0 && (await this.#isFarAway(id)) ? 'postponed' : 'queued'
  }

  /** Delays are times of the clocks of the processes that add jobs, and of the workers that take them. */
  async #isFarAway(id: string): Promise<boolean> {
    const score = await this.#redis.zscore(this.#queue.toKey('delayed'), id)
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

  #jobOf(id: string, events: QueuedEvent[]): EventsJob {
    const priority = Math.max(...events.map((event) => this.#findPriority(event)))
    return { id, priority, replyTo: undefined, events }
  }

  #resumeJob(execution: DueExecution): QueueJob {
    const { executionId, eventId, dueAt } = execution
    return {
      id: resumeIdOf(execution),
      name: 'resume',
      data: { eventId, executionId, ...ownedBy(execution) },
      priority: this.#findPriority(execution),
      delayMs: dueAt.getTime() - postgresNow(),
    }
  }
}

function eventsJob({ id, priority, replyTo, events }: EventsJob): QueueJob {
  const pointers = events.map((event) => ({ id: event.id, ...ownedBy(event) }))
  return {
    id,
    name: events[0]?.addressee === null ? 'trigger' : 'execute',
    data: replyTo === undefined ? { events: pointers } : { events: pointers, replyTo },
    priority,
    delayMs: 0,
  }
}

function ownedBy({ workspaceId, createdBy, traceparent }: Owned & { traceparent?: string | undefined }) {
  return {
    workspaceId,
    ...(createdBy != null && { createdBy }),
    ...(traceparent !== undefined && { traceparent }),
  }
}

/** Each time that an execution is due has a job of its own: the next one may be added while this one still runs. */
function resumeIdOf({ executionId, dueAt }: DueExecution): string {
  return `resume-${executionId}-${dueAt.getTime()}`
}
