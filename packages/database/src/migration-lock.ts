import { setTimeout } from 'node:timers/promises'
import pg from 'pg'

/** Any number that nothing else takes; Prisma's own lock is 72707369. */
const lockId = 72_707_370
const pauseMs = 250

/**
 * Runs work while no other process migrates the same database. Who waits asks again and again: a process that waits inside a
 * statement, as for Prisma's lock, has a snapshot, and `CREATE INDEX CONCURRENTLY` of the other one would wait for its end.
 */
export async function withMigrationLock<Result>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 })
  // Where this connection breaks, the work itself fails, or ends.
  client.on('error', () => {})
  await client.connect()
  try {
    while (!(await tryLock(client))) await setTimeout(pauseMs)
    return await work(client)
  } finally {
    await client.end()
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
    lockId,
  ])
  return rows[0]?.locked === true
}
