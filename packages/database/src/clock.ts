import type { Database } from './open.js'

/** The time (epoch ms) by Postgres' clock, which all processes share; their own clocks may differ. */
export async function readClock(database: Pick<Database, 'run'>): Promise<number> {
  const [read] = await database.run<{ now: number }>('read_clock', statement, [])
  if (read === undefined) throw new Error('Postgres returned no time')
  return read.now
}

const statement = 'SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now'
