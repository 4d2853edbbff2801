import { isDatabaseAway, isStatementCancelled, turnLeaves } from '@automation/database'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'
import { keptDaysOf } from './retention.js'

const pauseMs = 60 * 60 * 1_000

/** Makes the leaves of the coming weeks, and drops old ones without rows: at its start, and every hour. Each worker tries, and one at a time does. */
export function startLeaves(databaseUrl: string, historyDays: number, log: Logger) {
  const { history: events, tasks } = keptDaysOf(historyDays)
  const stopping = new AbortController()
  const { signal } = stopping
  let said = ''
  const rounds = repeat(
    async () => {
      const { made, gone, undone } = await turnLeaves(databaseUrl, { events, tasks }, { signal })
      if (made.length + gone.length > 0) log.info({ made, gone }, 'turned leaves of history')
      if (undone.length > 0 && undone.join() !== said) log.warn({ undone }, 'leaves of history were not made')
      said = undone.join()
    },
    pauseMs,
    (error) => {
      if (signal.aborted) return
      const isUsual = isDatabaseAway(error) || isStatementCancelled(error)
      log[isUsual ? 'warn' : 'error'](
        { err: error },
        'leaves of history could not be made; the next hour tries again',
      )
    },
    0,
  )
  return {
    stop(): Promise<void> {
      stopping.abort()
      return rounds.stop()
    },
  }
}
