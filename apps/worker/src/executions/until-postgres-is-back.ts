import { setTimeout } from 'node:timers/promises'
import { isDatabaseAway, isStatementCancelled } from '@automation/database'

/** How long (ms) to wait for Postgres before a result counts as lost: its call is then repeated. */
const postgresAwayMs = 60_000

/**
 * Repeats work that has to be recorded, until Postgres is back.
 *
 * @param isOver whether this worker is about to end: then it does not wait any longer
 * @throws errors of Postgres, by its promise; that it is away or cancels the statement, only a minute after the first of them
 */
export async function untilPostgresIsBack<Result>(
  work: (isRepeated: boolean) => Promise<Result>,
  isOver = () => false,
): Promise<Result> {
  let deadline = Number.POSITIVE_INFINITY
  for (let isRepeated = false; ; isRepeated = true) {
    try {
      return await work(isRepeated)
    } catch (error) {
      if (!isPassing(error) || Date.now() > deadline || isOver()) throw error
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
