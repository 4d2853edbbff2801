import type { Database } from '@automation/database'
import { continueCancellations, FreeQueues, wakeOn } from '@automation/ledger'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'

/**
 * Creates the work on executions that wait which no commit of an event or step has done: those of rules that were switched off are cancelled, and those
 * whose event has come or whose key is free are woken. The sweeper adds their jobs.
 */
export function createWaitEnder(
  database: Database,
  log: Logger,
  { wakes }: Pick<WorkerMetrics, 'wakes'>,
): (isStopped: () => boolean) => Promise<void> {
  const queues = new FreeQueues(database)
  return async (isStopped) => {
    const cancelled = await continueCancellations(database, isStopped)
    if (cancelled > 0) log.info({ cancelled }, 'cancelled waiting executions of rules that are switched off')
    const woken = await wakeOn(database, isStopped)
    wakes.event.inc(woken)
    if (woken > 0) log.info({ woken }, 'woke executions whose event has come')
    const freed = await queues.wake()
    wakes.key.inc(freed)
    if (freed > 0) log.info({ freed }, 'woke executions whose key is free')
  }
}
