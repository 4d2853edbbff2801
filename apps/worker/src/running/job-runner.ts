import { FairQueue, NotAdmitted, ownerOf } from '@automation/admission'
import type { Tracing } from '@automation/process/telemetry'
import { JobData, type JobName, type ResumeJobData } from '@automation/queue'
import { DelayedError, type Job } from 'bullmq'
import { Compile } from 'typebox/compile'
import type { Admission } from '../admission.js'
import type { Executor } from '../calls/executor.js'
import { countRows, heavyRows, msPerByte, msPerUnit } from '../executions/cost.js'
import type { Execution } from '../executions/execution.js'
import { traceResumption } from '../executions/trace-executions.js'
import type { WorkerMetrics } from '../worker-metrics.js'
import type { Claims } from './claims.js'
import type { EventRunner } from './event-runner.js'
import type { Intake } from './intake.js'

interface JobParts {
  events: EventRunner
  claims: Claims
  executor: Executor
  admission: Pick<Admission, 'events'>
  intake: Pick<Intake, 'take'>
  /** Jobs at a time. */
  concurrency: number
  metrics: WorkerMetrics
  tracing: Tracing | undefined
}

const jobData = Compile(JobData)
/** An execution whose event takes more memory, or whose step has more rows, occupies its job until the step is recorded and the gate counts it. */
const heavyBytes = 65_536

/** Runs the jobs that this worker receives. */
export class JobRunner {
  readonly #parts: JobParts
  /** Queues take turns. If there is one, it delivers as many jobs as there are places. */
  readonly #places: FairQueue
  #active = 0
  #endedAt = Number.NEGATIVE_INFINITY

  constructor(parts: JobParts) {
    this.#parts = parts
    this.#places = new FairQueue({ total: parts.concurrency })
  }

  /** How many jobs run at the moment. */
  get active(): number {
    return this.#active
  }

  /** For how long (ms) it has had none; infinite for one that never had any. */
  get idleMs(): number {
    return this.#active > 0 ? 0 : performance.now() - this.#endedAt
  }

  /** @param token proves to the queue that this worker holds the job */
  async run(job: Job<JobData, void, JobName>, token: string | undefined): Promise<void> {
    this.#active++
    try {
      const { intake } = this.#parts
      await this.#places.run(job.queueQualifiedName, () => intake.take(job, token, () => this.#runData(job)))
    } catch (error) {
      if (!(error instanceof NotAdmitted)) throw error
      this.#parts.metrics.jobsPostponed.inc()
      await job.moveToDelayed(Date.now() + error.retryAfterMs, token)
      throw new DelayedError()
    } finally {
      this.#active--
      this.#endedAt = performance.now()
    }
  }

  /** Jobs that wait for a place go back to their queues. */
  close(): void {
    this.#places.close()
  }

  async #runData({ data, stalledCounter }: Job<JobData, void, JobName>): Promise<void> {
    if (!jobData.Check(data)) throw new Error('Not a job of this service')
    if ('events' in data) await this.#parts.events.runAll(data, stalledCounter > 0)
    else await this.#resume(data)
  }

  async #resume(data: ResumeJobData): Promise<void> {
    const { admission, claims, executor, tracing } = this.#parts
    const entry = await admission.events.enter(ownerOf(data), { party: data })
    let execution: Execution | undefined
    try {
      const claimed = await claims.claim(data.executionId)
      if (claimed === undefined) return
      execution = claimed.execution
      traceResumption(tracing, execution, data.traceparent)
      // It has advanced to its next call when this returns.
      const { placed } = executor.resume(claimed)
      if (execution.event.heapBytes > heavyBytes || countRows([execution]) > heavyRows) await placed
    } finally {
      entry.leave(execution === undefined ? 0 : costOf(execution))
    }
  }
}

/** In ms of the event loop. */
function costOf({ evaluation, event }: Execution): number {
  return evaluation.spent * msPerUnit + event.heapBytes * msPerByte
}
