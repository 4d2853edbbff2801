import type { FairQueue } from '@automation/admission'
import { actionDefinitions, type CallType, isCallType } from '@automation/engine'
import type { Outcome, RecordableExecution } from '@automation/ledger'
import { type Metrics, waitBuckets } from '@automation/process/telemetry'
import { Counter, Histogram } from 'prom-client'
import { RecordMetrics } from './record-metrics.js'

/** `final`: failed, and a retry cannot help. */
const results = ['success', 'failed', 'final'] as const

type CallResult = (typeof results)[number]

export function createWorkerMetrics(metrics: Metrics): WorkerMetrics {
  return new WorkerMetrics(metrics)
}

/** Every metric that a worker updates itself. */
export class WorkerMetrics {
  readonly leasesLost: Counter
  readonly rescued: Record<'events' | 'executions', Counter.Internal>
  readonly wakes: Record<'event' | 'key', Counter.Internal>
  readonly tickLateness: Histogram
  readonly quarantined: Counter
  readonly leavesUndone: Counter
  readonly breakersOpened: Counter
  readonly jobsFailed: Counter
  readonly jobsPostponed: Counter
  readonly slicesGivenBack: Record<'delayed' | 'failed', Counter.Internal>
  readonly #slices: Record<'stored' | 'not_stored' | 'delayed' | 'failed', Counter.Internal>
  readonly #backtestEvents: Record<'scanned' | 'considered', Counter.Internal>
  readonly #metrics: Metrics
  readonly #records: RecordMetrics
  readonly #attempts: Map<string, Histogram.Internal<'type' | 'result'>>

  constructor(metrics: Metrics) {
    const { registers } = metrics
    this.#metrics = metrics
    this.#records = new RecordMetrics(metrics)
    this.#attempts = createAttemptHistograms(metrics)
    this.leasesLost = new Counter({
      name: 'automation_leases_lost_total',
      help: 'Records that were refused because another worker had claimed the execution',
      registers,
    })
    this.rescued = metrics.counters(
      'automation_sweeper_rescues_total',
      'Events and executions that the sweeper added to the queue again',
      'what',
      ['events', 'executions'],
    )
    this.wakes = metrics.counters(
      'automation_late_wakes_total',
      'Executions that waited and that no commit woke, so that this worker did later, by what came: event (that ends a WAIT), key (that became free)',
      'what',
      ['event', 'key'],
    )
    this.tickLateness = new Histogram({
      name: 'automation_tick_lateness_seconds',
      help: 'Time between a tick of a schedule and its event; its count is the number of ticks',
      buckets: waitBuckets,
      registers,
    })
    this.quarantined = new Counter({
      name: 'automation_events_quarantined_total',
      help: 'Events that this worker quarantined',
      registers,
    })
    this.leavesUndone = new Counter({
      name: 'automation_leaf_exchanges_undone_total',
      help: 'Exchanges of leaves of history that failed in this worker, that had waited for a day, or whose new leaves differed from the old ones',
      registers,
    })
    this.breakersOpened = new Counter({
      name: 'automation_breaker_openings_total',
      help: 'Breakers that opened because a destination kept failing',
      registers,
    })
    this.jobsFailed = new Counter({
      name: 'automation_jobs_failed_total',
      help: 'Jobs that failed with an error; the sweeper adds them again',
      registers,
    })
    this.jobsPostponed = new Counter({
      name: 'automation_jobs_postponed_total',
      help: 'Jobs that were delayed because other long work of their owner came first',
      registers,
    })
    this.#slices = metrics.counters(
      'automation_backtest_slices_total',
      'Slices of backtests that this worker computed, by result: stored, not_stored (cancelled, lost lease, range not settled), delayed (Postgres was busy or unavailable, a read timed out, or the thread did not start), failed',
      'result',
      ['stored', 'not_stored', 'delayed', 'failed'],
    )
    this.slicesGivenBack = this.#slices
    this.#backtestEvents = metrics.counters(
      'automation_backtest_events_total',
      'Events in the slices that this worker stored: scanned (all of the range), considered (evaluated)',
      'kind',
      ['scanned', 'considered'],
    )
  }

  /** @param slice undefined where it was not stored */
  noteSlice(slice: { scanned: number; considered: number } | undefined): void {
    this.#slices[slice === undefined ? 'not_stored' : 'stored'].inc()
    if (slice === undefined) return
    this.#backtestEvents.scanned.inc(slice.scanned)
    this.#backtestEvents.considered.inc(slice.considered)
  }

  /** Call after the commit. @param startedAt by the clock of `performance.now` */
  noteOutcomes(outcomes: Outcome[], startedAt: number): void {
    this.#records.noteOutcomes(outcomes, startedAt)
  }

  /** Call after the commit. @param executions those whose steps were recorded */
  noteSteps(executions: RecordableExecution[], startedAt: number): void {
    this.#records.noteSteps(executions, startedAt)
  }

  noteAttempt({ type }: { type: CallType }, result: CallResult, startedAt: number): void {
    this.#attempts.get(`${type} ${result}`)?.observe((performance.now() - startedAt) / 1_000)
  }

  /** Registers the gauges that are read at each scrape. */
  registerGauges(read: {
    jobs(): number
    calls(): number
    slots: number
    waiting(): number
    shared: Record<'events' | 'calls', Pick<FairQueue, 'owners' | 'busiestShare'>>
  }): void {
    this.#metrics.gauge('automation_jobs_active', 'Jobs that this worker is processing', read.jobs)
    this.#metrics.gauges(
      'automation_gate_places',
      'Concurrency slots for outbound calls, by state: taken, and limit (the setting)',
      'state',
      () => ({ taken: read.calls(), limit: read.slots }),
    )
    this.#metrics.gauge('automation_gate_waiting', 'Outbound calls that wait for a slot', read.waiting)
    const { events, calls } = read.shared
    this.#metrics.gauges(
      'automation_owners_active',
      'Owners (each a workspace, or all that one user has created) whose work this worker had in the last minute, by what they share',
      'resource',
      () => ({ events: events.owners, calls: calls.owners }),
    )
    this.#metrics.gauges(
      'automation_busiest_owner_share',
      'Part (0 to 1) of what all owners used in the last seconds that the busiest one used, by what they share: events (CPU), calls (slots)',
      'resource',
      () => ({ events: events.busiestShare, calls: calls.busiestShare }),
    )
  }
}

/** One histogram for each pair of action type and result. */
function createAttemptHistograms(metrics: Metrics) {
  const createHistogram = metrics.histograms(
    'automation_action_attempt_seconds',
    'Duration of outbound calls in seconds, by action type and result; final: failed without a retry',
    waitBuckets,
    ['type', 'result'],
  )
  return new Map(
    actionDefinitions
      .map(({ type }) => type)
      .filter(isCallType)
      .flatMap((type) =>
        results.map((result) => [`${type} ${result}`, createHistogram(type, result)] as const),
      ),
  )
}
