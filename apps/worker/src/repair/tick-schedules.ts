import type { Database } from '@automation/database'
import { makeTicks } from '@automation/ledger'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import { eventJobs, type RestoringQueue, restoreJobs } from './restore-jobs.js'

/** How long (ms) ticks are made at a time. */
const tickingMs = 5_000
/** A schedule that this process cannot read is left to others for so long (ms): one that knows its zone may be among them. */
const unreadableMs = 5 * 60_000

/** Creates a function that makes the events of the ticks that are due, and adds their jobs. The sweeper adds those that fail. */
export function createTicker(
  database: Pick<Database, 'run'>,
  queue: RestoringQueue,
  log: Logger,
  metrics: WorkerMetrics,
) {
  /** Until when (by performance.now()) each rule is left alone. */
  const unreadable = new Map<string, number>()

  return async (isStopped: () => boolean): Promise<void> => {
    const endAt = performance.now() + tickingMs
    for (const [ruleId, until] of unreadable) if (until < performance.now()) unreadable.delete(ruleId)
    for (;;) {
      const { events, latenesses, faulty, isMore } = await makeTicks(database, [...unreadable.keys()])
      for (const lateness of latenesses) metrics.tickLateness.observe(lateness)
      for (const { ruleId, fault } of faulty) {
        unreadable.set(ruleId, performance.now() + unreadableMs)
        log.error({ ruleId, fault }, 'a schedule cannot be read; its tick stays due')
      }
      await restoreJobs(eventJobs(queue, events))
      if (!isMore || isStopped() || performance.now() > endAt) return
    }
  }
}
