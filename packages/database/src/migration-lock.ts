import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'

/** Prisma's own number, so that its command line waits, too. */
const lockId = 72_707_369
const pauseMs = 250

export interface LockWait {
  /** Prints a sentence. */
  say(sentence: string): void
  /** How long (ms) it waits for another process. */
  waitMs: number
  signal: AbortSignal | undefined
}

/**
 * Begins a transaction that holds the lock of all migrations of a database. A lock of the session would stay behind on the server
 * connection that a pooler lends.
 *
 * It asks again and again, each time in a transaction of its own: `CREATE INDEX CONCURRENTLY` of the holder waits for the end of every
 * transaction that it meets inside a statement.
 *
 * @throws Error if another process holds it for too long
 */
export async function beginLocked(client: pg.Client, { say, waitMs, signal }: LockWait): Promise<void> {
  const deadline = performance.now() + waitMs
  let hasSaid = false
  while (!(await tryLock(client))) {
    const holder = await findHolder(client)
    const waitsFor = `another migration of this database${holder}`
    if (performance.now() >= deadline)
      throw new Error(
        `it has waited ${Math.round(waitMs / 1_000)} s for ${waitsFor}. Run npm run migrate again when that has ended, or end it if no migration is running`,
      )
    if (!hasSaid) say(`Waiting for ${waitsFor}.`)
    hasSaid = true
    await setTimeout(pauseMs, undefined, { signal })
  }
}

/** A role may have timeouts that suit queries, and no migration. */
const beginSql = 'BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0'

async function tryLock(client: pg.Client): Promise<boolean> {
  await client.query(beginSql)
  const { rows } = await client.query<{ isLocked: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1) AS "isLocked"',
    [lockId],
  )
  if (rows[0]?.isLocked === true) return true
  await client.query('ROLLBACK')
  return false
}

/** The lock's holder, in words; empty where it has just ended. */
async function findHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
     WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND granted AND datname = current_database()`,
    [lockId],
  )
  return rows[0] === undefined ? '' : ` (process ${rows[0].pid} of Postgres)`
}
