import { setTimeout } from 'node:timers/promises'
import { Prisma, type UnscopedSql } from '@automation/database'

/** A statement that accepts events, and the transaction around it, ends before this time: the pools see to it. */
const longestTransactionSeconds = 15
const waitedMs = 2_000
const pauseMs = 20

/** A transaction is in pg_stat_activity a moment after its start, usually some microseconds. */
const unseenSeconds = 0.2

interface Oldest {
  now: Date
  settled: Date
  /** Another role may accept events, and the starts of its transactions are hidden: we lack pg_read_all_stats. */
  isHidden: boolean
}

/**
 * Finds the moment before which no event can be committed any more: `accepted_at` is the start of the transaction, so it is the start of the
 * oldest one under way, or a fifth of a second ago. Waits a little for those that run now, so that the events of a moment ago are usually before it.
 * Where starts are hidden, it is as long ago as a transaction may take.
 *
 * @param until which moment is waited for; without it, the present
 */
export async function findSettled(database: UnscopedSql, until?: Date): Promise<Date> {
  const asked = await readOldest(database)
  let { settled } = asked
  const awaited = until ?? asked.now
  for (const end = performance.now() + waitedMs; settled < awaited && performance.now() < end; ) {
    if (asked.isHidden) return settled
    await setTimeout(pauseMs)
    settled = (await readOldest(database)).settled
  }
  return settled
}

/** A role that may not insert events accepts none. */
async function readOldest(database: UnscopedSql): Promise<Oldest> {
  const [row] = await database.$queryRaw<Oldest[]>(Prisma.sql`
    SELECT clock_timestamp() AS now, is_hidden AS "isHidden",
           CASE WHEN is_hidden THEN longest_ago ELSE greatest(longest_ago, least(oldest, seen)) END AS settled
    FROM (
      SELECT min(xact_start) AS oldest,
             statement_timestamp() - make_interval(secs => ${unseenSeconds}::float8) AS seen,
             statement_timestamp() - make_interval(secs => ${longestTransactionSeconds}::int) AS longest_ago,
             coalesce(bool_or(query = '<insufficient privilege>' AND has_table_privilege(usesysid, 'events', 'INSERT')), false)
               AS is_hidden
      FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
    ) AS activity`)
  return row as Oldest
}
