import { type Database, isDatabaseAway } from '@automation/database'
import type { EventQueue } from '@automation/inbox'
import { type EventsJobData, JobData, type JobName, queueName, stallOptions } from '@automation/jobs'
import { type Job, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { Check } from 'typebox/value'
import { createClaims } from './claim-runs.js'
import { createCompiledRules, findAddressee } from './compiled-rules.js'
import type { Config } from './config.js'
import { createGate } from './effects/gate.js'
import { createEffects } from './effects/index.js'
import { createExecutor } from './executor.js'
import { createLeases } from './leases.js'
import { createLedger } from './ledger.js'
import { createEventLoader, type LoadedEvent } from './load-events.js'
import { createReplies } from './replies.js'
import { beginRun } from './run.js'
import { createSuspects } from './suspects.js'

/**
 * Takes jobs off the belt. A job's life, read downwards:
 *
 *   event ─▶ loaded (or done already) ─▶ rules begun ─▶ outcome committed ─▶ job completed
 *                                                             └─▶ calls made (executor.ts) ─▶ caller told
 *   execution that is due ─▶ taken up (or not due any more) ─▶ job completed, calls made
 *
 * Killed anywhere on the way, the job is delivered again, or the execution is due again, and ends in the same rows.
 */
export function startWorker(config: Config, database: Database, queue: EventQueue, log: Logger) {
  const loadEvent = createEventLoader(database)
  const findRules = createCompiledRules(database)
  const claimRun = createClaims(database)
  const runAlone = createSuspects(database)
  const ledger = createLedger(database)
  const leases = createLeases(database, log)
  const effects = createEffects(config, database)
  const gate = createGate(config.outbound.concurrency)
  const executor = createExecutor({ database, queue, ledger, leases, gate, perform: effects.perform, log })
  const publisher = new Redis(config.redisUrl, {
    enableAutoPipelining: true,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
  })
  const connection = new Redis(config.redisUrl, { maxRetriesPerRequest: null })
  const reply = createReplies(publisher, config.queuePrefix)

  let jobs = 0
  const worker = new Worker<JobData, void, JobName>(queueName, takeJob, {
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
  worker.on('failed', (job, error) =>
    log[isDatabaseAway(error) ? 'debug' : 'error']({ err: error, ...job?.data }, 'job failed'),
  )

  return {
    ready: () => worker.waitUntilReady(),
    /** For probes: fails fast where Redis is away. */
    redis: publisher,
    isIdle: () => jobs === 0 && executor.isIdle(),
    /** Finishes what is under way; what still waits is left to other workers. */
    async close(): Promise<void> {
      executor.stop()
      // Without Redis there is nothing to hand back, and asking it would hold the process.
      await worker.close(connection.status !== 'ready')
      await executor.close()
      await leases.stop()
      await effects.close()
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
    if (!Check(JobData, data)) throw new Error('Not a job of ours')
    if ('events' in data) return takeEvents(data, stalledCounter > 0)
    const claimed = await claimRun(data.executionId)
    if (claimed) void executor.resume(claimed)
  }

  /** They only travel together: each is run, and answered, by itself. One that fails brings the job back, for itself alone. */
  async function takeEvents({ events, replyTo }: EventsJobData, hasStalled: boolean): Promise<void> {
    const taken = await Promise.allSettled(events.map(({ id }) => takeEvent(id, replyTo, hasStalled)))
    const failure = taken.find(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
  }

  /** @param hasStalled the worker that had it before gave no sign of life */
  async function takeEvent(eventId: string, replyTo: string | undefined, hasStalled: boolean): Promise<void> {
    const event = await loadEvent(eventId)
    if (event === undefined) return
    if (hasStalled || event.crashes > 0) await runAlone(eventId, () => runEvent(event, replyTo))
    else await runEvent(event, replyTo)
  }

  async function runEvent(event: LoadedEvent, replyTo: string | undefined): Promise<void> {
    const rules =
      event.ruleId === null ? await findRules(event) : await findAddressee(database, event, event.ruleId)
    const runs = rules.map((rule) => beginRun(rule, event))
    const calls = runs.flatMap((run) => (run.executionId === null ? [] : (executor.begin(run) ?? [])))
    const held = await ledger.recordOutcome(event, runs).catch((error) => {
      calls.forEach(executor.abandon)
      throw error
    })
    runs.forEach(executor.announce)
    // The rules know nothing of one another, so none waits for another's calls.
    const ending = calls.map((call) =>
      held.includes(call.run) ? executor.carryOn(call) : executor.abandon(call),
    )
    log.debug({ eventId: event.id, runs: runs.length, calls: calls.length }, 'event done')
    if (replyTo === undefined) return
    if (calls.length > 0) void Promise.all(ending).then(() => reply(replyTo, event, runs))
    else reply(replyTo, event, runs)
  }
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
