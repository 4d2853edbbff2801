import {
  clockAheadMs,
  type Database,
  isClockWrong,
  isDatabaseAway,
  isDiskFull,
  isStatementCancelled,
  leavesLock,
  readClock,
} from '@automation/database'
import {
  createExchangeUndo,
  createExchangeWait,
  createLeafExchange,
  histories,
  mayExchange,
  readLeafWaits,
} from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import { removeGently } from './remove-gently.js'
import { keptDaysOf } from './retention.js'

const pauseMs = 30_000
/** Nobody waits for a row that is copied, and a step costs as much as thousands of rows do. The least one may have a megabyte in each row. */
const pace = { lock: leavesLock, batchMs: 100, leastSize: 100 }
/** What waits is logged so often (s). */
const reminderSeconds = 3_600

type HistoryName = keyof typeof histories

interface Round {
  database: Database
  /** Of each history; 0: for ever. */
  days: Record<HistoryName, number>
  log: Logger
  metrics: Pick<WorkerMetrics, 'leavesUndone'>
  signal: AbortSignal
}

/** Exchanges old leaves every half minute, until what nobody keeps has gone. Each worker tries, and one at a time does. */
export function startExchanges(historyDays: number, round: Pick<Round, 'database' | 'log' | 'metrics'>) {
  const { history: events, tasks } = keptDaysOf(historyDays)
  const stopping = new AbortController()
  const { signal } = stopping
  const rounds = repeat(
    async () => {
      if (!(await mayExchange(round.database))) return
      await exchangeLeaves({ ...round, days: { events, tasks }, signal })
      await logWaits(round)
    },
    pauseMs,
    (error) => {
      const isUsual = isDatabaseAway(error) || isStatementCancelled(error)
      round.log[isUsual ? 'warn' : 'error'](
        { err: error },
        'leaves of history were not exchanged; the next round continues',
      )
    },
  )
  return {
    stop(): Promise<void> {
      stopping.abort()
      return rounds.stop()
    },
  }
}

/** Takes steps of each exchange until it is over or waits. It begins and swaps only if both clocks agree, as in retention.ts. */
export async function exchangeLeaves({ database, days, log, metrics, signal }: Round): Promise<void> {
  const note = (fault: string, err?: unknown) => {
    metrics.leavesUndone.inc()
    log.error({ err }, fault)
  }
  for (const name of Object.keys(histories) as HistoryName[]) {
    const now = await readClock(database)
    const kept = { now, days: days[name], clocksAgree: !isClockWrong(clockAheadMs()), onFault: note }
    try {
      const leaves = createLeafExchange(histories[name], kept)
      const removed = await removeGently(database, { leaves }, signal, pace)
      if (removed.leaves > 0) log.info({ name, dropped: removed.leaves }, 'exchanged leaves of history')
    } catch (error) {
      const cause = ((error as AggregateError).errors?.[0] as Error | undefined)?.cause ?? error
      if (isDatabaseAway(cause) && !isDiskFull(cause)) throw cause
      if (isStatementCancelled(cause)) {
        await removeGently(database, { leaves: createExchangeWait(histories[name]) }, signal, pace)
        throw cause
      }
      note(`an exchange of leaves of ${name} failed, so new leaves that are not in use are dropped`, cause)
      const leaves = createExchangeUndo(histories[name], kept, cause)
      await removeGently(database, { leaves }, signal, pace)
    }
  }
}

/** Once an hour, as long as something waits. */
async function logWaits({ database, log }: Pick<Round, 'database' | 'log'>): Promise<void> {
  const waits = await readLeafWaits(database)
  if (waits.some(({ seconds }) => seconds % reminderSeconds < pauseMs / 1_000))
    log.warn({ waits }, 'an exchange of leaves waits')
}
