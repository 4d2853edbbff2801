import type { Owned } from '@automation/admission'
import { postgresNow } from '@automation/database'
import type { WokenExecution } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import { createFairShare } from './fair-share.js'
import { jobStates } from './jobs.js'
import { countJobs, type JobQueue } from './open-queue.js'
import { openRedis } from './open-redis.js'
import { QueueCounts } from './queue-counts.js'
import { prefixOf, queueOf } from './queue-names.js'
import { type QueueJob, RedisQueue } from './redis-queue.js'
import { type Arrival, type EventsJob, type QueuedEvent, shareJobs } from './share-jobs.js'

/** An execution that is not finished, to be claimed when it is due. */
export interface DueExecution extends WokenExecution {
  /** Of its first span. */
  traceparent?: string | undefined
}

/** How often (ms) a process announces its number of queues, and hears those of others. */
const lookPauseMs = 5_000
/** A queue of others that does not open within this time (ms) may have jobs. */
const openMs = 1_000

/**
 * Opens the producing end of the queues. Its calls fail at once while Redis is away: the sweeper adds the jobs that are missing.
 *
 * @param queues a workspace belongs to one of so many
 */
export function openQueue(redisUrl: string, prefix: string, queues = 1): EventQueue {
  return new EventQueue(redisUrl, prefix, queues)
}

export class EventQueue {
  readonly #redisUrl: string
  readonly #prefix: string
  /** How many it adds jobs to. */
  readonly #own: number
  readonly #counts: QueueCounts
  readonly #findPriority = createFairShare()
  readonly #listeners = new Set<(queues: number) => void>()
  readonly #first: RedisQueue
  /** By index: the own ones, and after them those of other processes, as far as it has looked for their jobs. */
  readonly #queues: RedisQueue[]
  readonly #looks: ReturnType<typeof repeat>

  constructor(redisUrl: string, prefix: string, own: number) {
    this.#redisUrl = redisUrl
    this.#prefix = prefix
    this.#own = own
    const redis = openRedis(redisUrl, prefix, 'fail at once')
    this.#counts = new QueueCounts(redis, prefix, own, (index) => this.#hasJobs(index))
    this.#first = new RedisQueue(redis, prefix, {
      channels: prefix,
      isOwn: true,
      prepare: () => this.#look(),
    })
    this.#queues = [this.#first]
    while (this.#queues.length < own) this.#queues.push(this.#open(this.#queues.length))
    this.#looks = repeat(
      () => this.#look(),
      lookPauseMs,
      () => {},
    )
  }

  /** Waits for Redis. @returns whether it is there within the time (ms) */
  async isReady(withinMs: number): Promise<boolean> {
    return (await Promise.all(this.#ownQueues.map((queue) => queue.isReady(withinMs)))).every(Boolean)
  }

  /**
   * @returns why Redis cannot be used; undefined if it is there within the time (ms)
   * @throws if its user may not run a command that is needed: to wait does not help
   */
  async findFault(withinMs: number): Promise<string | undefined> {
    const faults = await Promise.all(this.#ownQueues.map((queue) => queue.findFault(withinMs)))
    return faults.find((fault) => fault !== undefined)
  }

  /** How many queues workers have to read: those of all living processes, and those in which jobs are left. */
  get inUse(): number {
    return this.#counts.inUse
  }

  /** Tells how many queues workers have to read, again and again. @returns what ends that */
  watch(listener: (queues: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Distributes events over jobs, before one commit accepts them. */
  share(arrivals: Arrival[]): EventsJob[] {
    return shareJobs(arrivals, this.#findPriority, this.#own)
  }

  add(job: EventsJob): Promise<void> {
    return this.#ownOf(job.events[0]).add(eventsJob(job))
  }

  /** Adds the job of events that rules of one workspace have caused. */
  addCaused(events: [QueuedEvent, ...QueuedEvent[]]): Promise<void> {
    return this.add(this.#jobOf(events[0].id, events))
  }

  /** Adds the job that resumes an execution when it is due. */
  addDue(execution: DueExecution): Promise<void> {
    return this.#ownOf(execution).add(this.#resumeJob(execution))
  }

  /**
   * Adds the job that carried events again, unless it is queued. If another number of queues held when they were accepted, they may belong to several
   * queues now, and each gets a job.
   *
   * @returns whether it did
   */
  async restore(jobId: string, events: QueuedEvent[]): Promise<boolean> {
    let isRestored = false
    const missing: QueuedEvent[] = []
    for (const group of groupBy(events, (event) => this.#placesOf(event).join())) {
      const state = await this.#reserve(jobId, group[0])
      if (state === 'free') missing.push(...group)
      isRestored ||= state !== 'queued'
    }
    // Each group was looked for before the first one is added: that one is where others may have been. A queue takes one job of this id.
    for (const group of groupBy(missing, ({ workspaceId }) => queueOf(workspaceId, this.#own)))
      await this.add(this.#jobOf(jobId, group))
    return isRestored
  }

  async restoreDue(execution: DueExecution): Promise<boolean> {
    const state = await this.#reserve(resumeIdOf(execution), execution)
    if (state === 'free') await this.addDue(execution)
    return state !== 'queued'
  }

  /** The number of jobs by state, in all queues. @throws where Redis is away */
  async countJobs(): Promise<Record<string, number>> {
    return countJobs(await this.#findQueues(), jobStates)
  }

  /** Whether a job waits for any worker, also in a queue that is paused. @throws where Redis is away */
  async hasWaitingJobs(): Promise<boolean> {
    const counts = await countJobs(await this.#findQueues(), ['waiting', 'prioritized'])
    return Object.values(counts).some((count) => count > 0)
  }

  async close(): Promise<void> {
    await this.#looks.stop()
    await Promise.all(this.#queues.map((queue) => queue.close()))
  }

  async #look(): Promise<void> {
    await this.#counts.look()
    for (const listener of this.#listeners) listener(this.inUse)
  }

  #open(index: number): RedisQueue {
    const prefix = prefixOf(this.#prefix, index)
    const redis = openRedis(this.#redisUrl, prefix, 'fail at once')
    const channels = this.#prefix
    if (index >= this.#own) return new RedisQueue(redis, prefix, { channels, isOwn: false })
    return new RedisQueue(redis, prefix, {
      channels,
      isOwn: true,
      prepare: async (queue) => {
        await this.#counts.look()
        // The operator who pauses the queue pauses all of them (apps/board), as far as they are known: this one may be new, or forgotten.
        const isPaused = await this.#first.queue.isPaused()
        if (isPaused !== (await queue.isPaused())) await (isPaused ? queue.pause() : queue.resume())
      },
    })
  }

  #at(index: number): RedisQueue {
    while (this.#queues.length <= index) this.#queues.push(this.#open(this.#queues.length))
    return this.#queues[index] as RedisQueue
  }

  get #ownQueues(): RedisQueue[] {
    return this.#queues.slice(0, this.#own)
  }

  #ownOf(work: Owned | undefined): RedisQueue {
    return work === undefined ? this.#first : this.#at(queueOf(work.workspaceId, this.#own))
  }

  async #findQueues(): Promise<JobQueue[]> {
    const queues = Array.from({ length: this.inUse }, (_, index) => this.#at(index))
    await Promise.all(queues.map((queue) => queue.isReady(openMs)))
    return queues.map(({ queue }) => queue)
  }

  /** One that does not say counts as a queue with jobs. */
  async #hasJobs(index: number): Promise<boolean> {
    const queue = this.#at(index)
    return !(await queue.isReady(openMs)) || queue.hasJobs().catch(() => true)
  }

  /** @returns the queues in which a job of a workspace may be; first the one in which it belongs */
  #placesOf({ workspaceId }: Owned): number[] {
    return [...new Set(this.#counts.known.map((count) => queueOf(workspaceId, count)))]
  }

  /** Looks in each queue in which the job may be. Nothing counts for its owner's backlog: each sweep asks for what is queued already. */
  async #reserve(id: string, work: Owned): Promise<'free' | 'queued' | 'promoted'> {
    for (const index of this.#placesOf(work)) {
      const state = await this.#at(index).reserve(id)
      if (state !== 'free') return state
    }
    return 'free'
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

function groupBy<Item>(items: Item[], keyOf: (item: Item) => unknown): Iterable<[Item, ...Item[]]> {
  const groups = new Map<unknown, [Item, ...Item[]]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups.values()
}

/** Each time that an execution is due has a job of its own: the next one may be added while this one still runs. */
function resumeIdOf({ executionId, dueAt }: DueExecution): string {
  return `resume-${executionId}-${dueAt.getTime()}`
}
