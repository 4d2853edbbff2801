import type { Database } from './open.js'

const readClockSql = 'SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now'

/** Reads the time (epoch ms) of Postgres' clock, which all processes share; their own clocks may differ. */
export async function readClock(database: Pick<Database, 'run'>): Promise<number> {
  const [read] = await database.run<{ now: number }>('read_clock', readClockSql, [])
  if (read === undefined) throw new Error('Postgres returned no time')
  return read.now
}
