import { Backtest } from '@automation/backtest'
import { type Database, isDatabaseAway } from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import { repeat } from '@automation/process/repeat'
import { type ClaimedBacktest, claimBacktest, delayBacktest, failBacktest } from '@automation/rules'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import { listNotes, positionOf } from './backtest-notes.js'
import { type FailedSlice, maxFailures, maxLongReads, type StoredSlice } from './compute-slice.js'

/** While no backtest waits. */
const idleMs = 500

/** Computes and stores slices. The worker uses SlicesInThread; tests use slices-here.ts. */
export interface Slices {
  /** @returns undefined where it was not stored: its lease is lost, it was cancelled, or its range is not settled yet */
  compute(claimed: ClaimedBacktest): Promise<StoredSlice | FailedSlice | undefined>
  /** The slice under way ends after the event that it evaluates, and is stored. */
  stop(): void
  /** Called when no slice is under way. */
  close(): Promise<void>
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
  slices: Slices,
  workLimits: WorkLimits,
  log: Logger,
  metrics?: Pick<WorkerMetrics, 'noteSlice' | 'slicesGivenBack'>,
) {
  let isStopping = false
  const work = async () => {
    while (!isStopping) {
      const claimed = await claimBacktest(database)
      if (claimed === undefined) return
      const slice = await slices.compute(claimed)
      if (slice !== undefined && 'why' in slice) {
        metrics?.slicesGivenBack[slice.why === 'failure' ? 'failed' : 'delayed'].inc()
        await giveBack(database, claimed, slice, workLimits, log)
      } else metrics?.noteSlice(slice)
    }
  }
  const running = repeat(work, idleMs, (error) =>
    log[isDatabaseAway(error) ? 'debug' : 'warn']({ err: error }, 'backtests could not be continued'),
  )
  return {
    async stop(): Promise<void> {
      isStopping = true
      slices.stop()
      await running.stop()
      await slices.close()
    },
  }
}

/**
 * A Postgres that is busy or away, or a thread that cannot start, delays a backtest for as long as it lasts. A definition that fails ends
 * it, and so do events that cannot be read in time one by one. Where this fails too, its lease expires.
 */
async function giveBack(
  database: Database,
  claimed: ClaimedBacktest,
  { why, error }: FailedSlice,
  workLimits: WorkLimits,
  log: Logger,
): Promise<void> {
  const { failures, longReads } = claimed
  const isUnreadable = why === 'long read' && longReads + 1 >= maxLongReads
  const isLast = isUnreadable || (why === 'failure' && failures + 1 >= maxFailures)
  log[isLast ? 'error' : 'warn']({ err: error, why, backtestId: claimed.id }, 'a slice of a backtest failed')
  if (isUnreadable) await failUnreadable(database, claimed, workLimits)
  else if (isLast) await failBacktest(database, claimed, describeEnd(error))
  else await delayBacktest(database, claimed, why)
}

function describeEnd({ code }: NodeJS.ErrnoException): string {
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'The backtest needs more memory than a worker can give it'
    : 'The backtest failed too often'
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
  const error = `The events from ${from} on could not be read in time, not even one at a time`
  const missing = `${error}: those up to ${to} are not in this report.`
  const notes = [missing, ...listNotes(claimed, historyFrom)]
  const backtest = new Backtest(subject, state ?? undefined, workLimits)
  backtest.finish()
  await failBacktest(database, claimed, error, backtest.report({ isComplete: false, historyFrom, notes }))
}
