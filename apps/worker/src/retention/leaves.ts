import {
  clockAheadMs,
  type Database,
  isClockWrong,
  isDatabaseAway,
  isDiskFull,
  isStatementCancelled,
  readClock,
} from '@automation/database'
import { analyzeTables, createLeafExchange, histories, readLeafState, undoExchange } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import { removeGently } from './remove-gently.js'
import { keptDaysOf } from './retention.js'

const pauseMs = 30_000
/** After a fault, which may last: a full disk, a missing right. */
const restMs = 10 * 60 * 1_000
/** What waits is logged once, and then so often (s). */
const reminderSeconds = 3_600
/** Any number that nothing else in this database locks. */
const leavesLock = 7_201_130_001n

type HistoryName = keyof typeof histories

/** How often a worker looks whether the statistics are old. */
const analyzeMs = 60 * 60 * 1_000

interface Round {
  database: Database
  /** Of each history; 0: for ever. */
  keptDays: Record<HistoryName, number>
  log: Logger
  metrics: Pick<WorkerMetrics, 'leavesUndone'>
  signal: AbortSignal
}

/** Makes the leaves of the coming weeks, removes old ones, and merges others: at its start, and every half minute. Each worker tries, and one at a time does. */
export function startLeaves(database: Database, historyDays: number, log: Logger, metrics: WorkerMetrics) {
  const { history: events, tasks } = keptDaysOf(historyDays)
  const keptDays = { events, tasks }
  const stopping = new AbortController()
  const { signal } = stopping
  const reminders = new Reminders(log)
  let restsUntil = 0
  let analyzesAt = 0
  const rounds = repeat(
    async () => {
      if (performance.now() < restsUntil) return
      const isFine = await exchangeLeaves({ database, keptDays, log, metrics, signal })
      if (!isFine) restsUntil = performance.now() + restMs
      if (performance.now() >= analyzesAt) {
        analyzesAt = performance.now() + analyzeMs
        await analyzeTables(database).catch((error) =>
          log.warn({ err: error }, 'statistics of history could not be renewed'),
        )
      }
      reminders.note((await readLeafState(database)).waiting)
    },
    pauseMs,
    (error) => log.warn({ err: error }, 'leaves of history could not be exchanged; the next round continues'),
    0,
  )
  return {
    stop(): Promise<void> {
      stopping.abort()
      return rounds.stop()
    },
  }
}

/**
 * Takes steps of each exchange until it is over or waits. An exchange begins only if both clocks agree, as in retention.ts.
 *
 * @returns false after a fault
 */
export async function exchangeLeaves({ database, keptDays, log, metrics, signal }: Round): Promise<boolean> {
  const now = await readClock(database)
  const clocksAgree = !isClockWrong(clockAheadMs())
  let isFine = true
  const note = (fault: string, err?: unknown) => {
    isFine = false
    metrics.leavesUndone.inc()
    log.error({ err }, fault)
  }
  for (const name of Object.keys(histories) as HistoryName[])
    try {
      const kept = { now, days: keptDays[name], clocksAgree, onFault: note }
      const exchange = createLeafExchange(histories[name], kept)
      const { leaves } = await removeGently(database, { leaves: exchange }, signal, { lock: leavesLock })
      if (leaves > 0) log.info({ name, dropped: leaves }, 'exchanged leaves of history')
    } catch (error) {
      const cause = ((error as AggregateError).errors?.[0] as Error | undefined)?.cause ?? error
      if (!isDiskFull(cause) && (isDatabaseAway(cause) || isStatementCancelled(cause))) throw cause
      note(`new leaves of ${name} could not be filled, so they are dropped`, cause)
      await undo(database, name)
    }
  return isFine
}

function undo(database: Database, name: HistoryName): Promise<void> {
  return database.system.$transaction((transaction) => undoExchange(transaction, histories[name]))
}

/** Says what an exchange waits for: once, and again each hour. */
class Reminders {
  readonly #log: Logger
  #nextSeconds = 0

  constructor(log: Logger) {
    this.#log = log
  }

  note(waiting: { name: string; waitsFor: string; seconds: number }[]): void {
    const longest = Math.max(0, ...waiting.map(({ seconds }) => seconds))
    if (waiting.length === 0) this.#nextSeconds = 0
    else if (longest >= this.#nextSeconds) {
      this.#nextSeconds = longest + reminderSeconds
      this.#log.warn({ waiting }, 'an exchange of leaves waits')
    }
  }
}
