import { createCachedReading } from './cached-reading.js'
import type { Metrics } from './metrics.js'

type PoolUse = Record<'busy' | 'idle' | 'waiting' | 'limit', number>

/** Registers the gauge of this process's connections to Postgres. */
export function registerPool(metrics: Metrics, readPool: () => PoolUse): void {
  metrics.gauges(
    'automation_database_connections',
    'Connections to Postgres by state: busy, idle, waiting (callers without a connection) and limit (the setting)',
    'state',
    readPool,
  )
}

/** Registers the gauge of this process's clock. @param readAheadMs undefined until Postgres was asked */
export function registerClock(metrics: Metrics, readAheadMs: () => number | undefined): void {
  metrics.gauge(
    'automation_clock_difference_seconds',
    'Seconds by which the clock of this process is ahead of that of Postgres, below 0 if it is behind; NaN until Postgres was asked',
    () => (readAheadMs() ?? Number.NaN) / 1_000,
  )
}

/**
 * Registers the gauges of the whole service's backlog. Each process reports the same values, so aggregate them with max
 * and not with sum.
 *
 * @param backlog is queried at most every five seconds
 */
export function registerBacklog(
  metrics: Metrics,
  backlog: { findOldestDueSeconds(): Promise<number>; countJobs(): Promise<Record<string, number>> },
): void {
  metrics.gauge(
    'automation_oldest_due_seconds',
    'Seconds since the oldest event or execution became due; NaN if Postgres does not respond',
    createCachedReading(backlog.findOldestDueSeconds, {
      keepMs: 5_000,
      timeoutMs: 3_000,
      unknown: Number.NaN,
    }),
  )
  registerQueue(metrics, backlog.countJobs)
}

/** Registers the gauge of cancellations, which is the same in all processes, too. @param count is queried at most every five seconds */
export function registerCancellations(metrics: Metrics, count: () => Promise<number>): void {
  metrics.gauge(
    'automation_cancellations_left',
    'Rules and subscriptions that are off and still have executions to be cancelled; NaN if Postgres does not respond',
    createCachedReading(count, { keepMs: 5_000, timeoutMs: 3_000, unknown: Number.NaN }),
  )
}

/** Registers the gauge of what waits for something else than time, which is the same in all processes, too. @param count is queried at most every five seconds */
export function registerWaiting(
  metrics: Metrics,
  count: () => Promise<Record<'event' | 'key' | 'batch', number>>,
): void {
  metrics.gauges(
    'automation_executions_waiting',
    'Executions that wait, by what for, up to 100,000 of each: event (or a decision), key (of their rule), batch (its end); no series if Postgres does not respond',
    'for',
    createCachedReading<Partial<Record<'event' | 'key' | 'batch', number>>>(count, {
      keepMs: 5_000,
      timeoutMs: 3_000,
      unknown: {},
    }),
  )
}

/** Registers the gauge of workspaces that move, which is the same in all processes, too. @param read is queried at most every minute */
export function registerWorkspaces(
  metrics: Metrics,
  read: () => Promise<Record<'to' | 'from', number>>,
): void {
  metrics.gauges(
    'automation_workspace_closed_seconds',
    'Seconds since the first of the closed workspaces was closed, by side: to (it moves to another installation), from (a copy, which has come from one); 0 if there is none; no series if Postgres does not respond',
    'side',
    createCachedReading<Partial<Record<'to' | 'from', number>>>(read, {
      keepMs: 60_000,
      timeoutMs: 3_000,
      unknown: {},
    }),
  )
}

/** Registers the gauges of leaves, which are the same in all processes, too. Each function is called at most every minute */
export function registerLeaves(
  metrics: Metrics,
  countHighRows: () => Promise<number>,
  readWaits: () => Promise<{ seconds: number }[]>,
): void {
  const cached = { keepMs: 60_000, timeoutMs: 3_000, unknown: Number.NaN }
  metrics.gauge(
    'automation_high_edge_rows',
    'Events, executions and tasks for whose time no leaf was made, up to 1,000 of each; NaN if Postgres does not respond',
    createCachedReading(countHighRows, cached),
  )
  metrics.gauge(
    'automation_leaf_wait_seconds',
    'How long an exchange of leaves has waited for a lock or the end of a transaction; NaN if Postgres does not respond, or this role may not look',
    createCachedReading(
      async () => Math.max(0, ...(await readWaits()).map(({ seconds }) => seconds)),
      cached,
    ),
  )
}

/** Registers the gauge of unfinished backtests, which is the same in all processes, too. @param count is queried at most every five seconds */
export function registerBacktests(
  metrics: Metrics,
  count: () => Promise<Record<'waiting' | 'running', number>>,
): void {
  metrics.gauges(
    'automation_backtests',
    'Unfinished backtests by status: waiting (before the first slice), running; no series if Postgres does not respond',
    'status',
    createCachedReading<Partial<Record<'waiting' | 'running', number>>>(count, {
      keepMs: 5_000,
      timeoutMs: 3_000,
      unknown: {},
    }),
  )
}

/** Registers the gauge of the queue, which is the same in all processes, too. @param countJobs counts jobs by state */
export function registerQueue(metrics: Metrics, countJobs: () => Promise<Record<string, number>>): void {
  metrics.gauges(
    'automation_queue_jobs',
    'Jobs in the queue by state; no series if Redis does not respond. Failed jobs are kept for a day',
    'state',
    createCachedReading(countJobs, { keepMs: 5_000, timeoutMs: 3_000, unknown: {} }),
  )
}
