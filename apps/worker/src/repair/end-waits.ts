import type { Database } from '@automation/database'
import { continueCancellations, FreeQueues, unparkSome, wakeOn } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'

/**
 * Does the work on executions that wait which no commit of an event or step has done: those of rules that were switched off are cancelled, and those
 * whose event has come or whose key is free are woken; and what was parked while its workspace was suspended is unparked. The sweeper adds their jobs. Each by itself: a million that are to be cancelled delay nothing that is
 * to be woken.
 */
export function startWaitEnders(
  database: Database,
  log: Logger,
  { wakes }: Pick<WorkerMetrics, 'wakes'>,
  pauseMs: number,
) {
  const queues = new FreeQueues(database)
  const enders = [
    async (isStopped: () => boolean) => {
      const cancelled = await continueCancellations(database, isStopped)
      if (cancelled > 0)
        log.info({ cancelled }, 'cancelled waiting executions of rules that are switched off')
    },
    async (isStopped: () => boolean) => {
      const woken = await wakeOn(database, isStopped)
      wakes.event.inc(woken)
      if (woken > 0) log.info({ woken }, 'woke executions whose event has come')
    },
    async () => {
      const freed = await queues.wake()
      wakes.key.inc(freed)
      if (freed > 0) log.info({ freed }, 'woke executions whose key is free')
    },
    async (isStopped: () => boolean) => {
      const unparked = await unparkSome(database, isStopped)
      if (unparked > 0) log.info({ unparked }, 'unparked the work of workspaces that were resumed')
    },
  ].map((end) =>
    repeat(end, pauseMs, (error) =>
      log.warn(
        { err: error },
        'executions could not be cancelled, woken or unparked; the next attempt continues',
      ),
    ),
  )
  return { stop: () => Promise.all(enders.map((ender) => ender.stop())) }
}
