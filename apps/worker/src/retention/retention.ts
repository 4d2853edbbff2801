import { type Database, readClock } from '@automation/database'
import { createHistoryRemoval, createUnusedRemovals } from '@automation/ledger'
import { openMetrics } from '@automation/telemetry'
import type { Logger } from 'pino'
import { repeat } from '../repeat.js'
import { createWorkerMetrics, type WorkerMetrics } from '../worker-metrics.js'
import { createExpiredRemovals } from './remove-expired.js'
import { removeGently } from './remove-gently.js'

const pauseMs = 10 * 60 * 1_000
/** Clocks that are synchronized differ by far less. */
const maxSkewMs = 60_000

interface Round {
  database: Database
  defaultDays: number
  log: Logger
  metrics: WorkerMetrics
  signal: AbortSignal
  /** Of this process, epoch ms. */
  clock?: () => number
}

/**
 * Removes what is old, every ten minutes: each worker tries, and one is at it.
 *
 * @param defaultDays for which events and their executions are kept where their workspace says nothing; 0: for ever
 */
export function startRetention(
  database: Database,
  defaultDays: number,
  log: Logger,
  metrics = createWorkerMetrics(openMetrics()),
) {
  const stopping = new AbortController()
  const { signal } = stopping
  const rounds = repeat(
    () => removeRound({ database, defaultDays, log, metrics, signal }),
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
 * Removes what is old by Postgres' clock, which all workers share, and which dates most rows. What is removed is gone for good, so
 * the clock of this process has to agree with it: where the two differ, nobody knows which one is wrong, and nothing is removed.
 */
export async function removeRound({
  database,
  defaultDays,
  log,
  metrics,
  signal,
  clock = Date.now,
}: Round): Promise<void> {
  const startedAt = performance.now()
  const now = await readClock(database)
  const aheadMs = clock() - now
  if (Math.abs(aheadMs) > maxSkewMs) {
    metrics.retentionRefused.inc()
    const aheadSeconds = Math.round(aheadMs / 1_000)
    return log.error(
      { aheadSeconds },
      'retention removed nothing: the clocks of this worker and of Postgres differ',
    )
  }
  const removed = await removeOld(database, now, defaultDays, signal)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  if (Object.values(removed).some((count) => count > 0))
    log.info({ removed, seconds }, 'removed expired rows')
}

/**
 * Removes what is old as of now (epoch ms).
 *
 * @returns how many rows of each kind are gone
 */
export function removeOld(
  database: Database,
  now: number,
  defaultDays: number,
  signal: AbortSignal = new AbortController().signal,
) {
  const removals = {
    ...createExpiredRemovals(now),
    history: createHistoryRemoval(now, defaultDays),
    // Last: what is left of history says what it needs.
    ...createUnusedRemovals(now, defaultDays),
  }
  return removeGently(database, removals, signal)
}
