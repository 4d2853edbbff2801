import type { Database } from '@automation/database'
import type { Logger } from 'pino'
import { createExpiredRemovals } from './remove-expired.js'
import { removeGently } from './remove-gently.js'
import { createHistoryRemoval } from './remove-history.js'
import { createUnusedRemovals } from './remove-unused.js'
import { repeat } from './repeat.js'

const pauseMs = 10 * 60 * 1_000

/**
 * Removes what is old, every ten minutes: each worker tries, and one is at it.
 *
 * @param defaultDays for which events and their executions are kept where their workspace says nothing; 0: for ever
 */
export function startRetention(database: Database, defaultDays: number, log: Logger) {
  const stopping = new AbortController()
  const rounds = repeat(
    async () => {
      const startedAt = performance.now()
      const removed = await removeOld(database, Date.now(), defaultDays, stopping.signal)
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      if (Object.values(removed).some((count) => count > 0))
        log.info({ removed, seconds }, 'removed what is old')
    },
    pauseMs,
    (error) => log.warn({ err: error }, 'what is old could not all be removed; the next round goes on'),
  )
  return {
    stop(): Promise<void> {
      stopping.abort()
      return rounds.stop()
    },
  }
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
