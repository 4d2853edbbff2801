import { timeOf } from '@automation/database'
import type { Outcome, RecordableExecution } from '@automation/ledger'
import { batchBuckets, type Metrics, waitBuckets } from '@automation/telemetry'
import type { OutsideAction } from './effects/effect.js'

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>

/** The statements that write outcomes: of events, and of runs that went on. */
const commits = ['outcomes', 'steps'] as const
const calls = ['SEND_EMAIL', 'SEND_WEBHOOK', 'SEND_NOTIFICATION'] as const satisfies OutsideAction['type'][]
/** `final`: failed, and a repeat cannot mend it. */
const results = ['success', 'failed', 'final'] as const

/** From a millisecond to an hour (seconds): until an event is done there may have been an outage. */
const delayBuckets = [...waitBuckets, 300, 3_600]

/** All that a worker counts. What happens by the thousand is added up by the commit. */
export function createWorkerMetrics(metrics: Metrics) {
  const executions = metrics.counts(
    'automation_executions_total',
    'Executions that this worker has brought to their end, recorded ones',
    'status',
    ['succeeded', 'failed', 'cancelled'],
  )
  const eventsDone = metrics.count(
    'automation_events_done_total',
    'Events that this worker has recorded as done',
  )
  const eventDelays = metrics.measure(
    'automation_event_done_seconds',
    'From the acceptance of an event until its runs were recorded',
    delayBuckets,
  )
  const tasks = metrics.count('automation_tasks_made_total', 'Tasks that were recorded')
  const emitted = metrics.count('automation_events_emitted_total', 'Events of EMIT_EVENT that were recorded')
  const batches = metrics.measures(
    'automation_ledger_batch_size',
    'Events (outcomes) or runs (steps) that were recorded by one commit',
    batchBuckets,
    ['statement'],
  )
  const commitTimes = metrics.measures(
    'automation_ledger_commit_seconds',
    'How long Postgres took for a commit of the ledger',
    waitBuckets,
    ['statement'],
  )
  const attempts = metrics.measures(
    'automation_action_attempt_seconds',
    'Calls to somebody outside, by what was done and what came of it',
    waitBuckets,
    ['type', 'result'],
  )
  const ofStatement = Object.fromEntries(
    commits.map((name) => [name, { size: batches(name), seconds: commitTimes(name) }]),
  ) as Record<
    (typeof commits)[number],
    { size: ReturnType<typeof batches>; seconds: ReturnType<typeof batches> }
  >
  const ofAttempt = new Map(
    calls.flatMap((type) => results.map((result) => [`${type} ${result}`, attempts(type, result)] as const)),
  )

  return {
    leasesLost: metrics.count(
      'automation_leases_lost_total',
      'Records that were refused since another worker had taken up the run',
    ),
    rescued: metrics.counts(
      'automation_sweeper_rescues_total',
      'What the sweeper put back on the belt',
      'what',
      ['events', 'executions'],
    ),
    quarantined: metrics.count('automation_events_quarantined_total', 'Events that were given up'),
    retentionRefused: metrics.count(
      'automation_retention_refusals_total',
      'Retention rounds that were refused because the clocks of the worker and of Postgres differ',
    ),
    breakersOpened: metrics.count(
      'automation_breaker_openings_total',
      'How often a destination was found to work no more',
    ),
    jobsFailed: metrics.count('automation_jobs_failed_total', 'Jobs that ended with a fault; they come back'),

    /** After the commit. @param begunAt as `performance.now` told */
    noteOutcomes(outcomes: Outcome[], begunAt: number): void {
      noteCommit('outcomes', outcomes.length, begunAt)
      const now = Date.now()
      const sums = emptySums()
      for (const { event, executions } of outcomes) {
        eventDelays.observe((now - timeOf(event.id)) / 1_000)
        for (const execution of executions) addUp(sums, execution)
      }
      eventsDone.inc(outcomes.length)
      tell(sums)
    },
    /** After the commit. @param executions those whose steps were recorded */
    noteSteps(executions: RecordableExecution[], begunAt: number): void {
      noteCommit('steps', executions.length, begunAt)
      const sums = emptySums()
      for (const execution of executions) addUp(sums, execution)
      tell(sums)
    },
    noteAttempt({ type }: OutsideAction, result: (typeof results)[number], begunAt: number): void {
      ofAttempt.get(`${type} ${result}`)?.observe((performance.now() - begunAt) / 1_000)
    },
    /** Registers the gauges that are read at each scrape. */
    registerGauges(read: { jobs(): number; calls(): number; slots: number; waiting(): number }): void {
      metrics.gauge('automation_jobs_active', 'Jobs that this worker has in hand', read.jobs)
      metrics.gauges('automation_gate_places', 'Places for calls to somebody outside', 'state', () => ({
        taken: read.calls(),
        limit: read.slots,
      }))
      metrics.gauge('automation_gate_waiting', 'Calls that wait for a slot', read.waiting)
    },
  }

  function noteCommit(statement: (typeof commits)[number], size: number, begunAt: number): void {
    ofStatement[statement].size.observe(size)
    ofStatement[statement].seconds.observe((performance.now() - begunAt) / 1_000)
  }

  function tell(sums: ReturnType<typeof emptySums>): void {
    if (sums.succeeded > 0) executions.succeeded.inc(sums.succeeded)
    if (sums.failed > 0) executions.failed.inc(sums.failed)
    if (sums.cancelled > 0) executions.cancelled.inc(sums.cancelled)
    if (sums.tasks > 0) tasks.inc(sums.tasks)
    if (sums.emitted > 0) emitted.inc(sums.emitted)
  }
}

function emptySums() {
  return { succeeded: 0, failed: 0, cancelled: 0, tasks: 0, emitted: 0 }
}

function addUp(
  sums: ReturnType<typeof emptySums>,
  { record: { status }, tasks, emitted }: RecordableExecution,
): void {
  if (status === 'succeeded' || status === 'failed' || status === 'cancelled') sums[status] += 1
  sums.tasks += tasks.length
  sums.emitted += emitted.length
}
