import type { Database } from '@automation/database'
import { defaultWorkLimits, type WorkLimits } from '@automation/engine'
import { openMetrics, type Tracing } from '@automation/process/telemetry'
import { type EventQueue, openRedis } from '@automation/queue'
import type { Logger } from 'pino'
import { createAdmission } from './admission.js'
import { Executor } from './calls/executor.js'
import { Gate } from './calls/gate.js'
import { Leases } from './calls/leases.js'
import { Suspensions } from './calls/suspensions.js'
import type { Config } from './config.js'
import { createEffects } from './effects/index.js'
import { Causation, defaultEmissionLimits, type EmissionLimits } from './executions/causation.js'
import { Recorder } from './executions/recorder.js'
import { Claims } from './running/claims.js'
import { EventRunner } from './running/event-runner.js'
import { FollowUp } from './running/follow-up.js'
import { Intake } from './running/intake.js'
import { JobConsumers } from './running/job-consumers.js'
import { JobRunner } from './running/job-runner.js'
import { Replies } from './running/replies.js'
import { createWorkerMetrics } from './worker-metrics.js'

/** Less than the 25 s after which the process is ended (main.ts). */
const closeWithinMs = 20_000
const cutOffMs = 1_000

/** What events and workspaces may take of a worker. An operator sets none of it: each stands beside its reason. */
export interface WorkerLimits {
  workLimits: WorkLimits
  emissions: EmissionLimits
}

export const usualLimits: WorkerLimits = {
  workLimits: defaultWorkLimits,
  emissions: defaultEmissionLimits,
}

export type Worker = ReturnType<typeof startWorker>

/**
 * Consumes jobs from all queues:
 *
 *   trigger, execute ─▶ events run and committed (event-runner.ts) ─▶ job completed ┄▶ calls (executor.ts)
 *   resume ─▶ execution claimed, or not due any more (claims.ts) ─▶ job completed ┄▶ calls
 *
 * A job that a worker did not complete is delivered again, and an execution that it held is due again. A job of an
 * owner whose events are long comes back while another one of its jobs is here (admission.ts).
 *
 * @param limits smaller ones in tests
 */
export function startWorker(
  config: Config,
  database: Database,
  queue: EventQueue,
  log: Logger,
  metrics = createWorkerMetrics(openMetrics()),
  tracing?: Tracing,
  limits: WorkerLimits = usualLimits,
) {
  const { redisUrl, queuePrefix: prefix, concurrency } = config
  const publisher = openRedis(redisUrl, prefix, 'fail at once', { enableAutoPipelining: true })
  const follower = new FollowUp(database, queue, log)
  const admission = createAdmission(config.outbound.concurrency)
  const followUp = follower.begin.bind(follower)
  const recorder = new Recorder({ commits: admission.commits, database, queue, metrics, followUp, log })
  const leases = new Leases(database, log)
  const suspensions = new Suspensions(database, log)
  const effects = createEffects(config, database, log)
  const gate = new Gate(admission, undefined, () => metrics.breakersOpened.inc())
  const calling = { recorder, leases, suspensions, gate, metrics, log }
  const executor = new Executor({ ...calling, events: admission.events, perform: effects.perform })
  const replies = new Replies(publisher, prefix)
  const onQuarantine = () => metrics.quarantined.inc()
  const { workLimits } = limits
  const causation = new Causation(database, limits.emissions)
  const running = { admission, database, recorder, executor, replies, causation, log }
  const events = new EventRunner({ ...running, workLimits, tracing, onQuarantine })
  const claims = new Claims(database, causation, leases, workLimits)
  const intake = new Intake(database, log)
  const jobs = new JobRunner({ events, claims, executor, admission, intake, concurrency, metrics, tracing })

  const consumers = new JobConsumers({ ...config, jobs, metrics, log })
  consumers.read(queue.inUse)
  intake.serve(consumers)
  const stopWatching = queue.watch((queues) => consumers.read(queues))
  metrics.registerGauges({
    jobs: () => jobs.active,
    calls: () => gate.inFlight,
    slots: admission.slots,
    waiting: () => gate.waiting,
    shared: admission,
  })

  return {
    ready: () => consumers.ready(),
    /** For probes: fails fast where Redis is away. */
    redis: publisher,
    isIdle: () => jobs.active === 0 && executor.isIdle,
    /** For how long (ms) it has had neither a job nor an execution. */
    idleMs: () => (executor.isIdle ? jobs.idleMs : 0),
    hasWaitingJobs: () => queue.hasWaitingJobs(),
    /** Finishes what is under way. What still waits, and calls that take longer than this (ms), are left to other workers. */
    async close(withinMs = closeWithinMs): Promise<void> {
      const deadline = performance.now() + withinMs
      intake.stop()
      executor.stop()
      jobs.close()
      admission.events.close()
      stopWatching()
      await consumers.close()
      await executor.close(deadline - performance.now())
      await Promise.all([leases.stop(), suspensions.stop()])
      await leases.releaseAll()
      await effects.close()
      // Calls that were cut off find that another worker holds their executions, and end.
      await executor.close(cutOffMs)
      publisher.disconnect()
    },
  }
}
