import { Backtest } from '@automation/backtest'
import {
  type Database,
  highestId,
  isDatabaseAway,
  isStatementCancelled,
  ReadTooLong,
  timeOf,
  type UnscopedSql,
  type WorkspaceReads,
} from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import {
  findRecordedEnds,
  findSettled,
  type RecordedEnds,
  type ScanLimits,
  type Scanned,
  type ScannedEvent,
  scanEvents,
} from '@automation/history'
import { isLeftOut } from '@automation/ledger'
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
  const { workspaceId, subject, pace, state } = claimed
  const backtest = new Backtest(subject, state ?? undefined, workLimits)
  const reads = database.readsOf(workspaceId)
  // An event of the range that commits later may have a lower id than those that were passed.
  if (!(await isSettled(reads, new Date(subject.to)))) {
    await delayBacktest(database, claimed, 'delay')
    return undefined
  }
  const turns = new Turns(pace, slice.ms, isStopping, state === null)
  const { warmUp } = backtest
  const { scanned, end } = await addEvents(reads, claimed, backtest, warmUp ?? rangeOf(claimed), slice, turns)
  if (warmUp) backtest.passWarmUp(end)
  else backtest.pass(scanned)
  const isComplete = !warmUp && end === undefined
  if (isComplete) backtest.finish()
  const historyFrom = findOvertaken(claimed, retentionDays)
  const notes = listNotes(claimed, historyFrom)
  const report = backtest.report({ isComplete, historyFrom, notes })
  const after = warmUp ? undefined : end
  const isStored = await storeSlice(database, claimed, { state: backtest.save(), after, historyFrom, report })
  await turns.rest()
  return isStored ? { scanned, considered: report.considered - (state?.counts.considered ?? 0) } : undefined
}

/** What is left of the events of a backtest, or of its warm-up (epoch ms). */
interface Stretch {
  from: number
  to: number
  after: string | null
}

function rangeOf({ rangeFrom, subject, after }: ClaimedBacktest): Stretch {
  return { from: rangeFrom, to: subject.to, after }
}

async function addEvents(
  reads: WorkspaceReads,
  { workspaceId, subject: { ruleId } }: ClaimedBacktest,
  backtest: Backtest,
  stretch: Stretch,
  slice: ScanLimits,
  turns: Turns,
): Promise<Scanned> {
  const range = {
    workspaceId,
    order: 'oldest first' as const,
    type: backtest.types,
    from: new Date(stretch.from),
    to: new Date(stretch.to),
  }
  const findEnds = (events: ScannedEvent[]) =>
    backtest.needsEnds && ruleId !== undefined
      ? findRecordedEnds(reads, { workspaceId, ruleId, events })
      : noEnds
  const visit = createVisit(backtest, turns, findEnds, ruleId)
  const scanned = await scanEvents(reads, range, stretch.after ?? undefined, slice, visit)
  const { end = highestId } = scanned
  const areAllTicked = await addTicks(backtest, stretch.from, Math.min(timeOf(end) + 1, stretch.to), turns)
  // After the highest id the next slice finds no event, and goes on with the ticks.
  return areAllTicked ? scanned : { ...scanned, end }
}

/** Adds the ticks up to the event at which the slice ended, as far as it has time. @returns whether these are all */
async function addTicks(backtest: Backtest, from: number, to: number, turns: Turns): Promise<boolean> {
  while (backtest.addTick(from, to)) {
    if (turns.isDue) await turns.rest()
    if (turns.isOver) return false
  }
  return true
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

/** Evaluates events until the slice is over, with its rests: the scan continues after the last one that was used. What left the rule out is passed. */
function createVisit(
  backtest: Backtest,
  turns: Turns,
  findEnds: (events: ScannedEvent[]) => Promise<RecordedEnds> | RecordedEnds,
  /** A rule that is not stored is none that a person has chosen for a replay. */
  ruleId = '',
) {
  return async (events: ScannedEvent[]): Promise<string | undefined> => {
    const ends = await findEnds(events)
    for (const { json, chosenRuleIds, isErased, ...event } of events) {
      if (isLeftOut(ruleId, chosenRuleIds)) continue
      if (isErased) {
        backtest.passErased()
        continue
      }
      const endedAt = ends.get(event.id)
      const ended = endedAt === null ? { after: Date.now() } : { at: endedAt ?? 0 }
      const known = { ...event, data: JSON.parse(json), size: json.length }
      backtest.add(endedAt === undefined ? known : { ...known, ended })
      if (turns.isDue) await turns.rest()
      if (turns.isOver) return event.id
    }
    return undefined
  }
}

const noEnds: RecordedEnds = new Map()
