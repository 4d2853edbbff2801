import { postgresNow, timeOf } from '@automation/database'
import type { Outcome, RecordableExecution } from '@automation/ledger'
import { batchBuckets, type Metrics, waitBuckets } from '@automation/process/telemetry'
import { Counter, Histogram } from 'prom-client'

/** The statements that write outcomes: `outcomes` of events, and `steps` of executions that continued. */
type Statement = 'outcomes' | 'steps'

/** From a millisecond to an hour (seconds): an outage may lie between the acceptance of an event and its end. */
const delayBuckets = [...waitBuckets, 300, 3_600]

/** The metrics of recorded work. Sums are added once per commit, since events come by the thousand. */
export class RecordMetrics {
  readonly #executions: Record<'succeeded' | 'failed' | 'cancelled' | 'suppressed', Counter.Internal>
  readonly #eventsDone: Counter
  readonly #eventDelays: Histogram
  readonly #tasks: Counter
  readonly #emitted: Counter
  readonly #overruns: Record<'work_budget' | 'event_budget', Counter.Internal>
  readonly #commits: Record<
    Statement,
    { size: Histogram.Internal<string>; seconds: Histogram.Internal<string> }
  >

  constructor(metrics: Metrics) {
    const { registers } = metrics
    this.#executions = metrics.counters(
      'automation_executions_total',
      'Executions that this worker finished and recorded, by status',
      'status',
      ['succeeded', 'failed', 'cancelled', 'suppressed'],
    )
    this.#eventsDone = new Counter({
      name: 'automation_events_done_total',
      help: 'Events that this worker recorded as done',
      registers,
    })
    this.#eventDelays = new Histogram({
      name: 'automation_event_done_seconds',
      help: 'Seconds from the acceptance of an event until its executions are recorded',
      buckets: delayBuckets,
      registers,
    })
    this.#tasks = new Counter({
      name: 'automation_tasks_made_total',
      help: 'Tasks that were created and recorded',
      registers,
    })
    this.#emitted = new Counter({
      name: 'automation_events_emitted_total',
      help: 'Events that EMIT_EVENT actions emitted and that were recorded',
      registers,
    })
    this.#overruns = metrics.counters(
      'automation_budget_overruns_total',
      'Executions that exceeded a limit of their event: work_budget (of its conditions) or event_budget (of the events that it causes)',
      'budget',
      ['work_budget', 'event_budget'],
    )
    this.#commits = createCommitHistograms(metrics)
  }

  noteOutcomes(outcomes: Outcome[], startedAt: number): void {
    this.#noteCommit('outcomes', outcomes.length, startedAt)
    const now = postgresNow()
    for (const { event } of outcomes) this.#eventDelays.observe((now - timeOf(event.id)) / 1_000)
    this.#eventsDone.inc(outcomes.length)
    this.#count(outcomes.flatMap(({ executions }) => executions))
  }

  noteSteps(executions: RecordableExecution[], startedAt: number): void {
    this.#noteCommit('steps', executions.length, startedAt)
    this.#count(executions)
  }

  #noteCommit(statement: Statement, size: number, startedAt: number): void {
    this.#commits[statement].size.observe(size)
    this.#commits[statement].seconds.observe((performance.now() - startedAt) / 1_000)
  }

  #count(executions: RecordableExecution[]): void {
    const sums = { succeeded: 0, failed: 0, cancelled: 0, suppressed: 0, tasks: 0, emitted: 0 }
    for (const { record, tasks, emitted } of executions) {
      const { status, attention } = record
      if (attention === 'work_budget' || attention === 'event_budget') this.#overruns[attention].inc()
      if (status !== 'running' && status !== 'waiting' && status !== 'retrying') sums[status] += 1
      sums.tasks += tasks.length
      sums.emitted += emitted.length
    }
    if (sums.succeeded > 0) this.#executions.succeeded.inc(sums.succeeded)
    if (sums.failed > 0) this.#executions.failed.inc(sums.failed)
    if (sums.cancelled > 0) this.#executions.cancelled.inc(sums.cancelled)
    if (sums.suppressed > 0) this.#executions.suppressed.inc(sums.suppressed)
    if (sums.tasks > 0) this.#tasks.inc(sums.tasks)
    if (sums.emitted > 0) this.#emitted.inc(sums.emitted)
  }
}

/** The size and the duration of commits, for each statement. */
function createCommitHistograms(metrics: Metrics) {
  const createSize = metrics.histograms(
    'automation_ledger_batch_size',
    'Events (outcomes) or executions (steps) recorded per commit, by statement',
    batchBuckets,
    ['statement'],
  )
  const createSeconds = metrics.histograms(
    'automation_ledger_commit_seconds',
    'Duration in seconds of a commit of the ledger, by statement',
    waitBuckets,
    ['statement'],
  )
  const of = (statement: Statement) => ({ size: createSize(statement), seconds: createSeconds(statement) })
  return { outcomes: of('outcomes'), steps: of('steps') }
}
