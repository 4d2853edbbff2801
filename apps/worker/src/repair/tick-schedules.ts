import type { Database } from '@automation/database'
import { makeTicks } from '@automation/ledger'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import { eventJobs, type RestoringQueue, restoreJobs } from './restore-jobs.js'

/** Makes the events of the ticks that are due, and adds their jobs. The sweeper adds those that fail. */
export async function tickSchedules(
  database: Database,
  queue: RestoringQueue,
  log: Logger,
  metrics: WorkerMetrics,
  isOver: () => boolean,
): Promise<void> {
  for (;;) {
    const { events, latenesses, faulty, isMore } = await makeTicks(database)
    for (const lateness of latenesses) metrics.tickLateness.observe(lateness)
    for (const { ruleId, fault } of faulty) log.error({ ruleId, fault }, 'a schedule cannot be read')
    await restoreJobs(eventJobs(queue, events))
    if (!isMore || isOver()) return
  }
}
