import type { Tracing } from '@automation/process/telemetry'
import { JobData, type JobName, type ResumeJobData } from '@automation/queue'
import { DelayedError, type Job } from 'bullmq'
import { Compile } from 'typebox/compile'
import type { Executor } from '../calls/executor.js'
import type { WorkerMetrics } from '../worker-metrics.js'
import type { Claims } from './claims.js'
import { heavyRows } from './commit-lanes.js'
import type { EventRunner } from './event-runner.js'
import { type HeavyWork, Postponed } from './heavy-work.js'
import { countRows } from './recorder.js'
import { traceResumption } from './trace-executions.js'

interface JobParts {
  events: EventRunner
  claims: Claims
  executor: Executor
  heavyWork: HeavyWork
  metrics: WorkerMetrics
  tracing: Tracing | undefined
}

const jobData = Compile(JobData)
/** An execution whose event takes more memory, or whose step has more rows, occupies its job until the step is recorded and the gate counts it. */
const heavyBytes = 65_536
/** To load so many bytes costs about as much as to write a row. */
const bytesPerRow = 16_384

/** Runs the jobs that this worker receives. */
export class JobRunner {
  readonly #parts: JobParts
  #active = 0

  constructor(parts: JobParts) {
    this.#parts = parts
  }

  /** How many jobs run at the moment. */
  get active(): number {
    return this.#active
  }

  /** @param token proves to the queue that this worker holds the job */
  async run(job: Job<JobData, void, JobName>, token: string | undefined): Promise<void> {
    this.#active++
    try {
      await this.#runData(job)
    } catch (error) {
      if (!(error instanceof Postponed)) throw error
      this.#parts.metrics.jobsPostponed.inc()
      await job.moveToDelayed(Date.now() + error.delayMs, token)
      throw new DelayedError()
    } finally {
      this.#active--
    }
  }

  async #runData({ data, stalledCounter }: Job<JobData, void, JobName>): Promise<void> {
    if (!jobData.Check(data)) throw new Error('Not a job of this service')
    const { events, heavyWork } = this.#parts
    if ('events' in data) return events.runAll(data, stalledCounter > 0)
    heavyWork.check(data.workspaceId, data)
    await heavyWork.run(data.workspaceId, data, () => this.#resume(data))
  }

  async #resume({ executionId, traceparent }: ResumeJobData): Promise<void> {
    const { claims, executor, heavyWork, tracing } = this.#parts
    const claimed = await claims.claim(executionId)
    if (claimed === undefined) return
    const { execution } = claimed
    const { event, evaluation } = execution
    traceResumption(tracing, execution, traceparent)
    // It has advanced to its next call when this returns.
    const { placed } = executor.resume(claimed)
    const rows = countRows([execution])
    heavyWork.charge(event, evaluation.spent, rows + event.heapBytes / bytesPerRow)
    if (event.heapBytes > heavyBytes || rows > heavyRows) await placed
  }
}
