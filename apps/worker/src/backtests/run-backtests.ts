import { Backtest } from '@automation/backtest'
import {
  type Database,
  isDatabaseAway,
  isStatementCancelled,
  ReadTooLong,
  TooMuchAtOnce,
  type UnscopedSql,
} from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import { findSettled, type ScanLimits, type ScannedEvent, scanEvents } from '@automation/ledger'
import {
  type ClaimedBacktest,
  claimBacktest,
  delayBacktest,
  failBacktest,
  type GivenBack,
  storeSlice,
} from '@automation/rules'
import type { Logger } from 'pino'
import { repeat } from '../repeat.js'
import type { WorkerMetrics } from '../worker-metrics.js'
import { findHistoryFrom, listNotes, positionOf } from './backtest-notes.js'
import { Turns } from './turns.js'

/** While no backtest waits. */
const idleMs = 500
/** The first slice is short, so that there are figures within a second. */
const firstSlice = { events: 20_000, ms: 250 }
const slices = { gentle: { events: 1_000_000, ms: 2_000 }, full: { events: 1_000_000, ms: 1_000 } }
const maxFailures = 5
/** How many events a statement reads after so many long reads. The last size is tried 18 times, for a quarter of an hour. */
const eventsAfterLongReads = [1_000, 100, 10, 1]
const maxLongReads = eventsAfterLongReads.length + 18
const neverStopping = new AbortController().signal

/** Settings of the worker. */
export interface BacktestLimits {
  workLimits: WorkLimits
  /** Of workspaces without a setting of their own; 0: for ever. */
  retentionDays: number
}

/** What a slice has added to its backtest. */
export interface StoredSlice {
  scanned: number
  considered: number
}

/**
 * Computes backtests in slices, one at a time in each worker:
 *
 *   claim ─▶ scan and add events ─▶ store state, position and report ─▶ claim …
 *     └▶ none: look again later      └▶ the lease is lost, or it was cancelled: nothing is stored
 *
 * A slice that its worker did not store begins again elsewhere, from the state before it: the report is the same.
 */
export function startBacktests(
  database: Database,
  limits: BacktestLimits,
  log: Logger,
  metrics?: Pick<WorkerMetrics, 'noteSlice' | 'slicesGivenBack'>,
) {
  const stopping = new AbortController()
  const { signal } = stopping
  const work = async () => {
    while (!signal.aborted) {
      const claimed = await claimBacktest(database)
      if (claimed === undefined) return
      try {
        const slice = await runSlice(database, claimed, limits, signal)
        metrics?.noteSlice(slice)
      } catch (error) {
        metrics?.slicesGivenBack[classify(error) === 'failure' ? 'failed' : 'delayed'].inc()
        await giveBack(database, claimed, error, limits, log)
      }
    }
  }
  const running = repeat(work, idleMs, (error) =>
    log[isDatabaseAway(error) ? 'debug' : 'warn']({ err: error }, 'backtests could not be continued'),
  )
  return {
    stop(): Promise<void> {
      stopping.abort()
      return running.stop()
    },
  }
}

/**
 * A Postgres that is busy or away delays a backtest, for as long as it is. A definition that fails ends it, and so do events that cannot be
 * read in time one by one. Where this fails too, its lease expires.
 */
async function giveBack(
  database: Database,
  claimed: ClaimedBacktest,
  error: unknown,
  { workLimits }: BacktestLimits,
  log: Logger,
): Promise<void> {
  const why = classify(error)
  const { failures, longReads } = claimed
  const isUnreadable = why === 'long read' && longReads + 1 >= maxLongReads
  const isLast = isUnreadable || (why === 'failure' && failures + 1 >= maxFailures)
  log[isLast ? 'error' : 'warn']({ err: error, backtestId: claimed.id }, 'a slice of a backtest failed')
  if (isUnreadable) await failUnreadable(database, claimed, workLimits)
  else if (isLast) await failBacktest(database, claimed, 'The backtest failed too often')
  else await delayBacktest(database, claimed, why)
}

function classify(error: unknown): GivenBack {
  if (error instanceof ReadTooLong) return 'long read'
  const isPassing = error instanceof TooMuchAtOnce || isStatementCancelled(error) || isDatabaseAway(error)
  return isPassing ? 'delay' : 'failure'
}

/** The report keeps what was read before, and says where it ends. */
async function failUnreadable(
  database: Database,
  claimed: ClaimedBacktest,
  workLimits: WorkLimits,
): Promise<void> {
  const { subject, state, historyFrom } = claimed
  const from = new Date(positionOf(claimed)).toISOString()
  const to = new Date(subject.to).toISOString()
  const error = `The events from ${from} on could not be read in time, not even one by one`
  const missing = `${error}: those up to ${to} are not in this report.`
  const notes = [missing, ...listNotes(claimed, historyFrom)]
  const backtest = new Backtest(subject, state ?? undefined, workLimits)
  await failBacktest(database, claimed, error, backtest.report({ isComplete: false, historyFrom, notes }))
}

/**
 * Computes and stores one slice.
 *
 * @param slice what it may take
 * @returns undefined where it was not stored: its lease is lost, it was cancelled, or its range is not settled yet
 * @throws where the definition does not compile, or events cannot be read
 */
export async function runSlice(
  database: Database,
  claimed: ClaimedBacktest,
  { workLimits, retentionDays }: BacktestLimits,
  signal: AbortSignal = neverStopping,
  slice = sizeOf(claimed),
): Promise<StoredSlice | undefined> {
  if (claimed.failures >= maxFailures) {
    await failBacktest(database, claimed, 'The backtest ended its workers, or failed, too often')
    return undefined
  }
  const { workspaceId, subject, pace, state, after } = claimed
  const backtest = new Backtest(subject, state ?? undefined, workLimits)
  const range = {
    workspaceId,
    order: 'oldest first' as const,
    type: backtest.types,
    from: new Date(subject.from),
    to: new Date(subject.to),
  }
  const reads = database.readsOf(workspaceId)
  // An event of the range that commits later may have a lower id than those that were passed.
  if (state === null && !(await isSettled(reads, range.to))) {
    await delayBacktest(database, claimed, 'delay')
    return undefined
  }
  const turns = new Turns(pace, slice.ms, signal)
  const visit = createVisit(backtest, turns)
  const { scanned, end } = await scanEvents(reads, range, after ?? undefined, slice, visit)
  backtest.pass(scanned)
  const historyFrom = findHistoryFrom(claimed, retentionDays)
  const notes = listNotes(claimed, historyFrom)
  const report = backtest.report({ isComplete: end === undefined, historyFrom, notes })
  const isStored = await storeSlice(database, claimed, {
    state: backtest.save(),
    after: end,
    historyFrom,
    report,
  })
  await turns.rest()
  return isStored ? { scanned, considered: report.considered - (state?.counts.considered ?? 0) } : undefined
}

/** A Postgres that is too busy to say so does not know yet. */
async function isSettled(reads: UnscopedSql, to: Date): Promise<boolean> {
  try {
    return (await findSettled(reads, to)) >= to
  } catch (error) {
    if (error instanceof ReadTooLong) return false
    throw error
  }
}

/** A read that took too long is tried again with fewer events, down to one. */
function sizeOf({ state, pace, longReads }: ClaimedBacktest): ScanLimits {
  const { events, ms } = state === null ? firstSlice : slices[pace]
  const most = longReads === 0 ? events : (eventsAfterLongReads[longReads - 1] ?? 1)
  return { events: Math.min(events, most), ms }
}

/** Judges events until the slice is over, in turns with live work: the scan continues after the last one that was used. */
function createVisit(backtest: Backtest, turns: Turns) {
  return async (events: ScannedEvent[]): Promise<string | undefined> => {
    for (const { json, ...event } of events) {
      backtest.add({ ...event, data: JSON.parse(json), size: json.length })
      if (turns.isDue) await turns.rest()
      if (turns.isOver) return event.id
    }
    return undefined
  }
}
