import { Backtest } from '@automation/backtest'
import {
  type Database,
  isDatabaseAway,
  isStatementCancelled,
  ReadTooLong,
  timeOf,
  type UnscopedSql,
} from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import { findSettled, type ScanLimits, type ScannedEvent, scanEvents } from '@automation/ledger'
import {
  type ClaimedBacktest,
  delayBacktest,
  failBacktest,
  type GivenBack,
  storeSlice,
} from '@automation/rules'
import { findOvertaken, listNotes } from './backtest-notes.js'
import { Turns } from './turns.js'

/** The first slice is short and rests at its end, so that there are figures within a second: of a small range it evaluates all events. */
const firstSlice = { events: 20_000, ms: 250 }
const slices = { gentle: { events: 1_000_000, ms: 2_000 }, full: { events: 1_000_000, ms: 1_000 } }
export const maxFailures = 5
/** How many events a statement reads after so many long reads. The last size is tried 18 times, for a quarter of an hour. */
const eventsAfterLongReads = [1_000, 100, 10, 1]
export const maxLongReads = eventsAfterLongReads.length + 18

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

/** A slice that could not be computed. */
export interface FailedSlice {
  why: GivenBack
  error: Error
}

interface SliceOptions {
  /** True once the worker shuts down: the slice then ends after the event that it evaluates, and is stored. */
  isStopping?: () => boolean
  /** What it may take. */
  slice?: ScanLimits
}

/**
 * Computes and stores one slice.
 *
 * @returns undefined where it was not stored: its lease is lost, it was cancelled, or its range is not settled yet
 */
export async function computeSlice(
  database: Database,
  claimed: ClaimedBacktest,
  limits: BacktestLimits,
  options?: SliceOptions,
): Promise<StoredSlice | FailedSlice | undefined> {
  try {
    return await runSlice(database, claimed, limits, options)
  } catch (error) {
    return { why: classify(error), error: error as Error }
  }
}

function classify(error: unknown): GivenBack {
  if (error instanceof ReadTooLong) return 'long read'
  const isPassing = isStatementCancelled(error) || isDatabaseAway(error)
  return isPassing ? 'delay' : 'failure'
}

/** @throws where the definition does not compile, or events cannot be read */
async function runSlice(
  database: Database,
  claimed: ClaimedBacktest,
  { workLimits, retentionDays }: BacktestLimits,
  { isStopping = () => false, slice = sizeOf(claimed) }: SliceOptions = {},
): Promise<StoredSlice | undefined> {
  if (claimed.failures >= maxFailures) {
    await failBacktest(database, claimed, 'The backtest crashed its workers or failed too often')
    return undefined
  }
  const { workspaceId, subject, rangeFrom, pace, state, after } = claimed
  const backtest = new Backtest(subject, state ?? undefined, workLimits)
  const range = {
    workspaceId,
    order: 'oldest first' as const,
    type: backtest.types,
    from: new Date(rangeFrom),
    to: new Date(subject.to),
  }
  const reads = database.readsOf(workspaceId)
  // An event of the range that commits later may have a lower id than those that were passed.
  if (!(await isSettled(reads, range.to))) {
    await delayBacktest(database, claimed, 'delay')
    return undefined
  }
  const turns = new Turns(pace, slice.ms, isStopping, state === null)
  const visit = createVisit(backtest, turns)
  const { scanned, end } = await scanEvents(reads, range, after ?? undefined, slice, visit)
  backtest.pass(scanned)
  backtest.addTicks(
    findTickBorder(after, claimed),
    end === undefined ? subject.to : findTickBorder(end, claimed),
  )
  const historyFrom = findOvertaken(claimed, retentionDays)
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

/** Slices divide the ticks by time, as they divide the events by ids. */
function findTickBorder(after: string | null, { rangeFrom, subject }: ClaimedBacktest): number {
  return after === null ? rangeFrom : Math.min(Math.max(timeOf(after) + 1, rangeFrom), subject.to)
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

/** Evaluates events until the slice is over, with its rests: the scan continues after the last one that was used. */
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
