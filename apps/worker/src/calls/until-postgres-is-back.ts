import { setTimeout } from 'node:timers/promises'
import { isDatabaseAway, isStatementCancelled } from '@automation/database'

/** How long (ms) to wait for Postgres before a result counts as lost: its call is then repeated. */
const postgresAwayMs = 60_000

/**
 * Repeats work that has to be recorded, until Postgres is back.
 *
 * @throws errors of Postgres, by its promise; that it is away or cancels the statement, only a minute after the first of them
 */
export async function untilPostgresIsBack<Result>(work: () => Promise<Result>): Promise<Result> {
  let deadline = Number.POSITIVE_INFINITY
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || Date.now() > deadline) throw error
      // To wait for other commits before it is no sign that Postgres is away.
      deadline = Math.min(deadline, Date.now() + postgresAwayMs)
      await setTimeout(500)
    }
  }
}

/** Whether an error is not of the statement itself, so that it may succeed later. */
export function isPassing(error: unknown): boolean {
  return isDatabaseAway(error) || isStatementCancelled(error)
}
