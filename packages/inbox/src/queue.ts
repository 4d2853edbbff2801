import { setTimeout } from 'node:timers/promises'
import { groupCommit } from '@automation/database'
import { type JobData, type JobName, jobOptions, jobStates, queueName } from '@automation/jobs'
import { type JobsOptions, Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { createFairShare } from './fair-share.js'
import { type Arrival, type EventsJob, type QueuedEvent, shareJobs } from './share-jobs.js'

export type EventQueue = ReturnType<typeof openQueue>

/** An execution that is not finished, to be taken up at its time. */
export interface DueRun {
  executionId: string
  eventId: string
  workspaceId: string
  dueAt: Date
  /** Where it is traced: its first step. */
  traceparent?: string | undefined
}

interface BeltJob {
  id: string
  name: JobName
  data: JobData
  place: number
  delayMs: number
}

const reopenPauseMs = 200

/**
 * The producing end of the belt. It fails fast, and so it may: a job that could not be added is added by the sweeper.
 * `commandTimeout` is what ends a call to a Redis that is paused, and not just gone.
 */
export function openQueue(redisUrl: string, prefix: string) {
  const connection = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
    connectTimeout: 2_000,
  })
  const findPlace = createFairShare()
  const findStanding = groupCommit((ids: string[]) => Promise.all(ids.map(readStanding)))
  let opened: Queue<JobData, void, JobName> | undefined
  let isClosed = false
  // Lost connections come back by themselves; each call that fails meanwhile says so itself.
  connection.on('error', () => {})
  connection.once('ready', open)

  /** BullMQ's queue asks Redis for its version once, at its birth, and is of no use for ever if that fails: so again. */
  async function open(): Promise<void> {
    if (isClosed) return
    const queue = new Queue<JobData, void, JobName>(queueName, {
      connection,
      prefix,
      skipWaitingForReady: true,
      defaultJobOptions: jobOptions,
    })
    queue.on('error', () => {})
    try {
      await queue.waitUntilReady()
      opened = queue
    } catch {
      queue.close().catch(() => {})
      await setTimeout(reopenPauseMs, undefined, { ref: false })
      await open()
    }
  }

  function queue(): Queue<JobData, void, JobName> {
    if (!opened) throw new Error('Redis is away')
    return opened
  }

  /**
   * Many jobs are added in one turn of the event loop, when a commit that they share is done: they leave in one write.
   * It saves a third of what adding a job costs.
   */
  function holdWrites(): void {
    const { stream } = connection
    if (stream.writableCorked > 0) return
    stream.cork()
    setImmediate(() => stream.uncork())
  }

  async function addJob({ id, name, data, place, delayMs }: BeltJob): Promise<void> {
    const producer = queue()
    holdWrites()
    const options: JobsOptions = { jobId: id }
    if (delayMs > 0) options.delay = delayMs
    if (place > 0) options.priority = place
    await producer.add(name, data, options)
  }

  async function restoreJob(job: BeltJob): Promise<boolean> {
    const standing = await findStanding(job.id)
    if (standing === 'on its way') return false
    // A finished job keeps its id for a while, and adding a known id is silently ignored: first remove it.
    if (standing === 'finished') await queue().remove(job.id)
    await addJob(job)
    return true
  }

  /**
   * By two fields of the job itself, which BullMQ writes together with its lists. Its own answer, getJobState, walks these
   * lists: where 100,000 jobs wait, a sweep of 10,000 would hold up Redis for seventeen seconds.
   */
  async function readStanding(id: string): Promise<'unknown' | 'on its way' | 'finished'> {
    const key = queue().toKey(id)
    holdWrites()
    const [addedAt, finishedAt] = await connection.hmget(key, 'timestamp', 'finishedOn')
    if (finishedAt) return 'finished'
    return addedAt ? 'on its way' : 'unknown'
  }

  function jobOf(id: string, events: QueuedEvent[]): EventsJob {
    const place = Math.max(...events.map(({ workspaceId }) => findPlace(workspaceId)))
    return { id, place, replyTo: undefined, events }
  }

  return {
    /** Waits for Redis for a while. Answers whether it is there. */
    async isReady(withinMs: number): Promise<boolean> {
      const giveUpAt = Date.now() + withinMs
      while (!opened && Date.now() < giveUpAt) await setTimeout(20)
      return opened !== undefined
    },
    /** Which jobs are to carry events that are about to be committed together. */
    share: (arrivals: Arrival[]): EventsJob[] => shareJobs(arrivals, findPlace),
    add: (job: EventsJob) => addJob(eventsJob(job)),
    /** Adds the job of an event that travels by itself. */
    addAlone: (event: QueuedEvent) => addJob(eventsJob(jobOf(event.id, [event]))),
    /** Adds the job that goes on with an execution when it is due. */
    addDue: (run: DueRun) => addJob(resumeJob(run, findPlace(run.workspaceId))),
    /** Puts back the job that carried events, unless it is on its way. Answers whether it did. */
    restore: (jobId: string, events: QueuedEvent[]) => restoreJob(eventsJob(jobOf(jobId, events))),
    restoreDue: (run: DueRun) => restoreJob(resumeJob(run, findPlace(run.workspaceId))),
    /** How many jobs are on the belt, by where they are. @throws where Redis is away */
    countJobs: async (): Promise<Record<string, number>> => queue().getJobCounts(...jobStates),
    async close(): Promise<void> {
      isClosed = true
      await opened?.close()
      connection.disconnect()
    },
  }
}

function eventsJob({ id, place, replyTo, events }: EventsJob): BeltJob {
  const pointers = events.map(({ id, workspaceId, traceparent }) =>
    traceparent === undefined ? { id, workspaceId } : { id, workspaceId, traceparent },
  )
  return {
    id,
    name: events[0]?.ruleId === null ? 'trigger' : 'execute',
    data: replyTo === undefined ? { events: pointers } : { events: pointers, replyTo },
    place,
    delayMs: 0,
  }
}

/** Each time that an execution is due has a job of its own: the next one may be added while this one still runs. */
function resumeJob(
  { executionId, eventId, workspaceId, dueAt, traceparent }: DueRun,
  place: number,
): BeltJob {
  return {
    id: `resume-${executionId}-${dueAt.getTime()}`,
    name: 'resume',
    data: { eventId, workspaceId, executionId, ...(traceparent !== undefined && { traceparent }) },
    place,
    delayMs: dueAt.getTime() - Date.now(),
  }
}
