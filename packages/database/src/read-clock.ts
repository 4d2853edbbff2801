import { noteClock } from './clock.js'
import type { Database } from './open.js'

/** Not now(): who asks may be in a transaction that began long ago. */
const readClockSql = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'

/** Reads the time (epoch ms) of Postgres' clock, and notes how far this process' clock is ahead of it (clock.ts). */
export async function readClock(database: Pick<Database, 'run'>): Promise<number> {
  // In this order: where the process stands still between the two lines, the response counts as later, and not this clock as behind.
  const startedAt = performance.now()
  const sentAt = Date.now()
  const [read] = await database.run<{ now: number }>('read_clock', readClockSql, [])
  if (read === undefined) throw new Error('Postgres returned no time')
  noteClock(read.now, sentAt, performance.now() - startedAt)
  return read.now
}
