import { setTimeout } from 'node:timers/promises'
import { Prisma, type UnscopedSql } from '@automation/database'

/** A statement that accepts events, and the transaction around it, ends before this time: the pools see to it. */
const longestTransactionSeconds = 15
const waitedMs = 2_000
const pauseMs = 20

/**
 * Finds the moment before which no event can be committed any more: `accepted_at` is the start of the transaction, so it is the start of the
 * oldest one under way. Waits a little for those that run now, so that the events of a moment ago are usually before it.
 *
 * @param until which moment is waited for; without it, the present
 */
export async function findSettled(database: UnscopedSql, until?: Date): Promise<Date> {
  const asked = await readOldest(database)
  let { settled } = asked
  const awaited = until ?? asked.now
  for (const end = performance.now() + waitedMs; settled < awaited && performance.now() < end; ) {
    await setTimeout(pauseMs)
    settled = (await readOldest(database)).settled
  }
  return settled
}

/** Other roles' transactions have no start that we may see; they accept no events. */
async function readOldest(database: UnscopedSql): Promise<{ now: Date; settled: Date }> {
  const [row] = await database.$queryRaw<{ now: Date; settled: Date }[]>(Prisma.sql`
    SELECT clock_timestamp() AS now,
           greatest(coalesce(min(xact_start), clock_timestamp()),
                    clock_timestamp() - make_interval(secs => ${longestTransactionSeconds}::int)) AS settled
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`)
  return row as { now: Date; settled: Date }
}
