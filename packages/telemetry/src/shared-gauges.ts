import type { Metrics } from './metrics.js'
import { createReading } from './reading.js'

type PoolUse = Record<'busy' | 'idle' | 'waiting' | 'limit', number>

/** Of this process. */
export function tellPool(metrics: Metrics, readPool: () => PoolUse): void {
  metrics.gauges(
    'automation_database_connections',
    'Connections to Postgres; waiting are callers for whom there is none, limit is the setting',
    'state',
    readPool,
  )
}

/**
 * Of the whole service: each process tells the same, so take the greatest and not the sum.
 *
 * @param backlog who is asked, at most every five seconds
 */
export function tellBacklog(
  metrics: Metrics,
  {
    findOldestDueSeconds,
    countJobs,
  }: { findOldestDueSeconds(): Promise<number>; countJobs(): Promise<Record<string, number>> },
): void {
  metrics.gauge(
    'automation_oldest_due_seconds',
    'For how long the oldest event or execution has been due; NaN where Postgres does not say',
    createReading(findOldestDueSeconds, { keepMs: 5_000, giveUpMs: 3_000, unknown: Number.NaN }),
  )
  tellQueue(metrics, countJobs)
}

/** The same for all processes, too. @param countJobs by the state that they are in */
export function tellQueue(metrics: Metrics, countJobs: () => Promise<Record<string, number>>): void {
  metrics.gauges(
    'automation_queue_jobs',
    'Jobs on the belt, by where they are; none where Redis does not say. Failed ones stay for a day to be looked at',
    'state',
    createReading(countJobs, { keepMs: 5_000, giveUpMs: 3_000, unknown: {} }),
  )
}
