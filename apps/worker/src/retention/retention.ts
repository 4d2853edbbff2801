import { clockAheadMs, type Database, isClockWrong, readClock } from '@automation/database'
import {
  createClaimRemoval,
  createHistoryRemoval,
  createTaskRemoval,
  createUnusedRemovals,
  createWorkspaceRemoval,
  histories,
  readWholeFrom,
} from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'
import { createExpiredRemovals } from './remove-expired.js'
import { removeGently } from './remove-gently.js'

const pauseMs = 10 * 60 * 1_000

/** A year, and a month to look back on it. */
const longDays = 400

/** How many days each kind of row is kept; 0: for ever. */
export interface KeptDays {
  /** Events and their executions, where their workspace has no setting. */
  history: number
  tasks: number
  audit: number
}

/** Tasks and the audit log name what an execution did: they are kept as long as history by default, and a year at least. */
export function keptDaysOf(history: number): KeptDays {
  const days = history === 0 ? 0 : Math.max(history, longDays)
  return { history, tasks: days, audit: days }
}

interface Round {
  database: Database
  keptDays: KeptDays
  log: Logger
  signal: AbortSignal
}

/** Removes old rows every ten minutes. Each worker tries, and one at a time removes. */
export function startRetention(database: Database, historyDays: number, log: Logger) {
  const keptDays = keptDaysOf(historyDays)
  const stopping = new AbortController()
  const { signal } = stopping
  const rounds = repeat(
    () => removeRound({ database, keptDays, log, signal }),
    pauseMs,
    (error) => log.warn({ err: error }, 'some expired rows could not be removed; the next round continues'),
  )
  return {
    stop(): Promise<void> {
      stopping.abort()
      return rounds.stop()
    },
  }
}

/**
 * Removes old rows by the clock of Postgres, which all workers share and which dates most rows. Rows are removed for good, so the
 * clock of this process has to agree: where the two differ, either may be wrong, and nothing is removed.
 */
export async function removeRound({ database, keptDays, log, signal }: Round): Promise<void> {
  const startedAt = performance.now()
  const now = await readClock(database)
  const aheadMs = clockAheadMs() ?? 0
  if (isClockWrong(aheadMs)) {
    const aheadSeconds = Math.round(aheadMs / 1_000)
    return log.error(
      { aheadSeconds },
      'retention removed nothing: the clocks of this worker and of Postgres differ',
    )
  }
  const removed = await removeOld(database, now, keptDays, signal)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  if (Object.values(removed).some((count) => count > 0))
    log.info({ removed, seconds }, 'removed expired rows')
}

/**
 * Removes the rows that are old at `now`.
 *
 * @param now epoch ms
 * @returns how many rows of each kind were removed
 */
export async function removeOld(
  database: Database,
  now: number,
  keptDays: KeptDays,
  signal: AbortSignal = new AbortController().signal,
) {
  const { history, tasks } = await database.system.$transaction(async (transaction) => ({
    history: await readWholeFrom(transaction, histories.events, { now, days: keptDays.history }),
    tasks: await readWholeFrom(transaction, histories.tasks, { now, days: keptDays.tasks }),
  }))
  const removals = {
    workspaces: createWorkspaceRemoval(),
    ...createExpiredRemovals(now, keptDays.audit),
    history: createHistoryRemoval(now, keptDays.history, history),
    // Last: the remaining history decides what is still in use.
    tasks: createTaskRemoval(now, keptDays.tasks, tasks),
    ...createUnusedRemovals(now, keptDays.history),
    keyClaims: createClaimRemoval(now),
  }
  return removeGently(database, removals, signal)
}
