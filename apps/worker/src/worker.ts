import { hostname } from 'node:os'
import { type Database, isDatabaseAway } from '@automation/database'
import type { EventQueue } from '@automation/inbox'
import {
  type EventPointer,
  type EventsJobData,
  JobData,
  type JobName,
  queueName,
  stallOptions,
} from '@automation/jobs'
import { openMetrics, type Span, type Tracing } from '@automation/telemetry'
import { type Job, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { Compile } from 'typebox/compile'
import { findAddressee } from './addressee.js'
import { createClaims } from './claim-runs.js'
import { createCompiledRules } from './compiled-rules.js'
import type { Config } from './config.js'
import { createGate } from './effects/gate.js'
import { createEffects } from './effects/index.js'
import { createExecutor } from './executor.js'
import { createFollowUp } from './follow-up.js'
import { createLeases } from './leases.js'
import { createLedger } from './ledger.js'
import { createEventLoader, type LoadedEvent } from './load-events.js'
import { createReplies } from './replies.js'
import { makeSetOfOne } from './rule-set.js'
import { beginRuns } from './run.js'
import { createSuspects } from './suspects.js'
import { traceEvent, traceResumption, traceRuns } from './trace-runs.js'
import { createWorkerMetrics } from './worker-metrics.js'

/** Less than the 25 s after which the process is ended (main.ts). */
const closeWithinMs = 20_000
const cutOffMs = 1_000

const jobData = Compile(JobData)

/**
 * Takes jobs off the belt. A job's life, read downwards:
 *
 *   event ─▶ loaded (or done already) ─▶ rules begun ─▶ outcome committed ─▶ job completed
 *                                                             └─▶ calls made (executor.ts) ─▶ caller told
 *   execution that is due ─▶ taken up (or not due any more) ─▶ job completed, calls made
 *
 * Killed anywhere on the way, the job is delivered again, or the execution is due again, and ends in the same rows.
 */
export function startWorker(
  config: Config,
  database: Database,
  queue: EventQueue,
  log: Logger,
  metrics = createWorkerMetrics(openMetrics()),
  tracing?: Tracing,
) {
  const loadEvent = createEventLoader(database)
  const findRules = createCompiledRules(database)
  const claimRun = createClaims(database)
  const runAlone = createSuspects(database, () => metrics.quarantined.inc())
  const ledger = createLedger(database, metrics, createFollowUp(database, queue, log))
  const leases = createLeases(database, log)
  const effects = createEffects(config, database)
  const gate = createGate(config.outbound.concurrency, undefined, () => metrics.breakersOpened.inc())
  const { perform } = effects
  const executor = createExecutor({ queue, ledger, leases, gate, perform, metrics, log })
  const publisher = new Redis(config.redisUrl, {
    enableAutoPipelining: true,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
  })
  const connection = new Redis(config.redisUrl, { maxRetriesPerRequest: null })
  const reply = createReplies(publisher, config.queuePrefix)

  let jobs = 0
  const worker = new Worker<JobData, void, JobName>(queueName, takeJob, {
    // By it the board tells who has a job.
    name: `${hostname()}-${process.pid}`,
    connection,
    prefix: config.queuePrefix,
    concurrency: config.concurrency,
    ...stallOptions,
  })
  publisher.on('error', () => {})
  connection.on('error', () => {})
  tellOutages(connection, log)
  // While Redis is away there is nothing to say that tellOutages has not said.
  worker.on('error', (error) => {
    if (connection.status === 'ready') log.warn({ err: error }, 'queue error')
  })
  // Without Postgres all jobs fail, and come back: the sweeper's word is enough.
  worker.on('failed', (job, error) => {
    metrics.jobsFailed.inc()
    log[isDatabaseAway(error) ? 'debug' : 'error']({ err: error, ...(job && idsOf(job.data)) }, 'job failed')
  })
  metrics.tellNow({
    jobs: () => jobs,
    calls: () => gate.inFlight,
    places: config.outbound.concurrency,
    line: () => gate.waiting,
  })

  return {
    ready: () => worker.waitUntilReady(),
    /** For probes: fails fast where Redis is away. */
    redis: publisher,
    isIdle: () => jobs === 0 && executor.isIdle(),
    /** Finishes what is under way; what still waits, and calls that take longer than this, are left to other workers. */
    async close(withinMs = closeWithinMs): Promise<void> {
      const giveUpAt = performance.now() + withinMs
      executor.stop()
      // Without Redis there is nothing to hand back, and asking it would hold the process.
      await worker.close(connection.status !== 'ready')
      await executor.close(giveUpAt - performance.now())
      await leases.stop()
      await leases.giveBack()
      await effects.close()
      // Calls that were cut off find that their runs are another's, and end.
      await executor.close(cutOffMs)
      publisher.disconnect()
      connection.disconnect()
    },
  }

  async function takeJob(job: Job<JobData, void, JobName>): Promise<void> {
    jobs++
    try {
      await runJob(job)
    } finally {
      jobs--
    }
  }

  async function runJob({ data, stalledCounter }: Job<JobData, void, JobName>): Promise<void> {
    if (!jobData.Check(data)) throw new Error('Not a job of ours')
    if ('events' in data) return takeEvents(data, stalledCounter > 0)
    const claimed = await claimRun(data.executionId)
    if (claimed === undefined) return
    traceResumption(tracing, claimed.run, data.traceparent)
    void executor.resume(claimed)
  }

  /** They only travel together: each is run, and answered, by itself. One that fails brings the job back, for itself alone. */
  async function takeEvents({ events, replyTo }: EventsJobData, hasStalled: boolean): Promise<void> {
    const taken = await Promise.allSettled(events.map((event) => takeEvent(event, replyTo, hasStalled)))
    const failure = taken.find(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
  }

  /** @param hasStalled the worker that had it before gave no sign of life */
  async function takeEvent(
    { id, traceparent }: EventPointer,
    replyTo: string | undefined,
    hasStalled: boolean,
  ): Promise<void> {
    const event = await loadEvent(id)
    if (event === undefined) return
    const span = traceEvent(tracing, event, traceparent)
    try {
      if (hasStalled || event.crashes > 0) await runAlone(id, () => runEvent(event, replyTo, span))
      else await runEvent(event, replyTo, span)
      span?.end()
    } finally {
      span?.end(true)
    }
  }

  async function runEvent(event: LoadedEvent, replyTo: string | undefined, span?: Span): Promise<void> {
    const set =
      event.ruleId === null
        ? await findRules(event)
        : makeSetOfOne(await findAddressee(database, event, event.ruleId))
    const runs = beginRuns(set, event)
    traceRuns(span, runs)
    const calls = executor.begin(runs)
    const left = new Set(calls)
    const ending: Promise<void>[] = []
    const recording = span?.begin('record')
    try {
      const held = await ledger.recordOutcome({ event, ruleSetId: set.id, runs })
      recording?.end()
      // Whoever waits is answered by the faster delivery, or from what that one stored.
      if (held === undefined) {
        for (const run of runs) run.span?.end(true)
        return log.debug({ eventId: event.id }, 'event was done by another delivery')
      }
      runs.forEach(executor.announce)
      // The rules know nothing of one another, so none waits for another's calls.
      for (const call of calls) {
        if (!held.includes(call.run)) continue
        left.delete(call)
        ending.push(executor.carryOn(call))
      }
    } finally {
      left.forEach(executor.abandon)
    }
    log.debug({ eventId: event.id, runs: runs.length, calls: calls.length }, 'event done')
    if (replyTo === undefined) return
    if (calls.length > 0) void Promise.all(ending).then(() => reply(replyTo, event, set, runs))
    else reply(replyTo, event, set, runs)
  }
}

/** For the lines that tell of a job. */
function idsOf(data: JobData) {
  if ('events' in data) return { eventIds: data.events.map(({ id }) => id) }
  return { executionId: data.executionId, eventId: data.eventId }
}

/** One line when Redis goes and one when it comes back, however often the connection is tried meanwhile. */
function tellOutages(connection: Redis, log: Logger): void {
  let isAway = false
  connection.on('close', () => {
    if (!isAway) log.warn('Redis is away; jobs wait until it is back')
    isAway = true
  })
  connection.on('ready', () => {
    if (isAway) log.info('Redis is back')
    isAway = false
  })
}
