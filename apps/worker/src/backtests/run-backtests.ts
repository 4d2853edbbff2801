import { Backtest, type BacktestSubject } from '@automation/backtest'
import {
  clockSkewMs,
  type Database,
  isDatabaseAway,
  isStatementCancelled,
  ReadTooLong,
  TooMuchAtOnce,
  timeOf,
} from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import { dayMs, findSettled, type ScannedEvent, scanEvents } from '@automation/ledger'
import {
  type ClaimedBacktest,
  claimBacktest,
  delayBacktest,
  failBacktest,
  storeSlice,
} from '@automation/rules'
import type { Logger } from 'pino'
import { repeat } from '../repeat.js'
import type { WorkerMetrics } from '../worker-metrics.js'
import { Turns } from './turns.js'

/** While no backtest waits. */
const idleMs = 500
/** The first slice is short, so that there are figures within a second. */
const firstSlice = { events: 20_000, ms: 250 }
const slices = { gentle: { events: 1_000_000, ms: 2_000 }, full: { events: 1_000_000, ms: 1_000 } }
const maxFailures = 5
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
        metrics?.slicesGivenBack[isPassing(error) ? 'delayed' : 'failed'].inc()
        await giveBack(database, claimed, error, log)
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

/** A busy Postgres delays a backtest, for as long as it is busy; a definition that fails ends it. Where this fails too, its lease expires. */
async function giveBack(
  database: Database,
  claimed: ClaimedBacktest,
  error: unknown,
  log: Logger,
): Promise<void> {
  const isFailure = !isPassing(error)
  const isLast = isFailure && claimed.failures + 1 >= maxFailures
  log[isLast ? 'error' : 'warn']({ err: error, backtestId: claimed.id }, 'a slice of a backtest failed')
  if (isLast) await failBacktest(database, claimed, 'The backtest failed too often')
  else await delayBacktest(database, claimed, isFailure)
}

function isPassing(error: unknown): boolean {
  return (
    error instanceof ReadTooLong ||
    error instanceof TooMuchAtOnce ||
    isStatementCancelled(error) ||
    isDatabaseAway(error)
  )
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
  slice = claimed.state === null ? firstSlice : slices[claimed.pace],
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
  if (state === null && (await findSettled(reads, range.to)) < range.to) {
    await delayBacktest(database, claimed, false)
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

/** Judges events until the slice is over, in turns with live work: the scan continues after the last one that was used. */
function createVisit(backtest: Backtest, turns: Turns) {
  return async (events: ScannedEvent[]): Promise<string | undefined> => {
    for (const { json, ...event } of events) {
      backtest.add({ ...event, data: JSON.parse(json) })
      if (turns.isDue) await turns.rest()
      if (turns.isOver) return event.id
    }
    return undefined
  }
}

/**
 * The furthest time before which retention may have removed events that no slice had read: that of now (remove-history.ts), where it is ahead of the
 * position before this slice.
 */
function findHistoryFrom(claimed: ClaimedBacktest, defaultDays: number): number | null {
  const { subject, after, historyFrom, retentionDays } = claimed
  const days = retentionDays ?? defaultDays
  if (days === 0) return historyFrom
  const border = Date.now() - clockSkewMs - days * dayMs
  const position = after === null ? subject.from : timeOf(after)
  return border > position ? Math.max(border, historyFrom ?? border) : historyFrom
}

/** What the report cannot know, or what changed since it was asked for. */
function listNotes({ subject, presentVersion }: ClaimedBacktest, historyFrom: number | null): string[] {
  return [
    ...noteRule(subject, presentVersion),
    ...(historyFrom !== null && subject.from < historyFrom
      ? [
          `Retention removed events before ${new Date(historyFrom).toISOString()}: those that were not read before are missing.`,
        ]
      : []),
    'Each rule is judged by itself: the work that all rules of an event share (EVENT_WORK) is not simulated.',
  ]
}

function noteRule({ ruleId, active }: BacktestSubject, presentVersion: number | null): string[] {
  if (ruleId === undefined || active === undefined) return []
  if (presentVersion === null) return ['The rule was deleted since the backtest was created.']
  return presentVersion === active.version ? [] : [`The rule has version ${presentVersion} now.`]
}
