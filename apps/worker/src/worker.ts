import type { Database } from '@automation/database'
import { JobData, type JobName, queueName, type Reply, replyChannel, stallOptions } from '@automation/jobs'
import { type Job, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { Check } from 'typebox/value'
import { createCompiledRules, findRule } from './compiled-rules.js'
import type { Config } from './config.js'
import { createEffects } from './effects/index.js'
import { createLedger } from './ledger.js'
import { createEventLoader, type LoadedEvent } from './load-events.js'
import { type RuleRun, runRule } from './run-rule.js'

/**
 * Takes jobs off the belt. A job's life, read downwards:
 *
 *   job ─▶ event loaded (or done already) ─▶ rules run ─▶ outcome committed ─▶ caller told ─▶ job completed
 *
 * Killed anywhere on the way, the job is delivered again and ends in the same rows.
 */
export function startWorker(config: Config, database: Database, log: Logger) {
  const loadEvent = createEventLoader(database)
  const findRules = createCompiledRules(database)
  const record = createLedger(database)
  const effects = createEffects(config)
  const publisher = new Redis(config.redisUrl, {
    enableAutoPipelining: true,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
  })
  const connection = new Redis(config.redisUrl, { maxRetriesPerRequest: null })

  const worker = new Worker<JobData, void, JobName>(queueName, run, {
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
  worker.on('failed', (job, error) => log.error({ err: error, eventId: job?.data.eventId }, 'job failed'))

  return {
    ready: () => worker.waitUntilReady(),
    /** Finishes what is under way; what still waits is left to other workers. */
    async close(): Promise<void> {
      // Without Redis there is nothing to hand back, and asking it would hold the process.
      await worker.close(connection.status !== 'ready')
      await effects.close()
      publisher.disconnect()
      connection.disconnect()
    },
  }

  async function run(job: Job<JobData, void, JobName>): Promise<void> {
    if (!Check(JobData, job.data)) throw new Error('Not a job of ours')
    const event = await loadEvent(job.data.eventId)
    if (event === undefined) return
    const rules =
      event.ruleId === null ? await findRules(event) : await findRule(database, event, event.ruleId)
    // The rules know nothing of one another, so none waits for another's calls.
    const runs = await Promise.all(rules.map((rule) => runRule(rule, event, effects.perform)))
    await record({ event, runs })
    log.debug({ eventId: event.id, runs: runs.length }, 'event done')
    if (job.data.replyTo) tell(job.data.replyTo, event, runs)
  }

  /** Not waited for: a caller who is not told reads the stored outcome. */
  function tell(instanceId: string, event: LoadedEvent, runs: RuleRun[]): void {
    const reply: Reply = {
      eventId: event.id,
      runs: runs.map(({ ruleId, executionId, success, error, results }) => ({
        ruleId,
        executionId,
        success,
        error,
        // The answer to a trigger does not tell of single actions.
        results: event.ruleId === null ? [] : results,
      })),
    }
    publisher.publish(replyChannel(config.queuePrefix, instanceId), JSON.stringify(reply)).catch(() => {})
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
