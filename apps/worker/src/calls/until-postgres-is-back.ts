import { setTimeout } from 'node:timers/promises'
import { isDatabaseAway } from '@automation/database'

/** For how long (ms) Postgres may be away before what cannot be recorded is given up: a call is then repeated. */
const postgresAwayMs = 60_000

/** For what has to be written though its moment has passed. @throws what Postgres throws, but for being away */
export async function untilPostgresIsBack<Result>(work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = Date.now() + postgresAwayMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseAway(error) || Date.now() > giveUpAt) throw error
      await setTimeout(500)
    }
  }
}
