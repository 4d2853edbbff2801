import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { describeDatabaseError, isLockTimeout } from './database-errors.js'
import { newId } from './ids.js'
import { readLeaves } from './leaves/leaf-tables.js'
import { leavesLock } from './leaves/turn-leaves.js'
import { beginLocked, type LockWait } from './migration-lock.js'
import {
  countUnknown,
  findMissing,
  type Migration,
  OtherTables,
  readAppliedSql,
  readMigration,
} from './migrations.js'
import { openLong } from './open-long.js'

/** Longer than most migrations take, and shorter than a deployment is watched. */
const defaultWaitMs = 600_000
/** So often a migration tries to get a lock that others hold. */
const defaultLockAttempts = 10
/** Between two attempts all go on who have waited behind the first. */
const betweenAttemptsMs = 1_000

export interface MigrateOptions extends LockWait {
  /** Of the migrations; undefined, except in tests: those of the product. */
  directory: string | undefined
  /** How often it tries to get a lock, where its script has an end for the wait. */
  lockAttempts: number
}

/**
 * Migrates a database to the newest schema. Several processes may call it at the same time: they wait for each other. Each migration is
 * done whole, or not at all, and the next call goes on after the last one that was done.
 *
 * @param databaseUrl a `postgresql://` URL whose role may create tables
 * @param options `signal` ends it: the statement that runs is cancelled, and its migration undone
 * @returns the names of the migrations that were applied, in order; empty when there was nothing to do
 * @throws Error in one line if Postgres is away, a migration fails, or another process migrates for too long. It may be called again.
 * OtherTables, before anything is changed
 */
export async function migrate(databaseUrl: string, options: Partial<MigrateOptions> = {}): Promise<string[]> {
  const { say = () => {}, waitMs = defaultWaitMs, signal, directory } = options
  const { lockAttempts = defaultLockAttempts } = options
  const migrator = new Migrator(databaseUrl, { say, waitMs, signal, directory, lockAttempts })
  const cancel = () => migrator.cancel().catch(() => {})
  signal?.addEventListener('abort', cancel)
  try {
    return await migrator.applyAll()
  } finally {
    signal?.removeEventListener('abort', cancel)
    await migrator.close()
  }
}

/**
 * Applies migrations one by one, each in a transaction that also takes the lock and writes the row of Prisma's ledger:
 *
 *   BEGIN ─▶ lock ─▶ statements, row ─▶ COMMIT
 *                 └▶ an index that is built or dropped while others write: on a second connection ─▶ row ─▶ COMMIT
 *
 * Whatever ends it before COMMIT, its row is missing. Nothing else is left, but an index that is built or dropped again.
 */
class Migrator {
  readonly #url: string
  readonly #options: MigrateOptions
  #client: pg.Client | undefined
  /** Of Postgres, which runs what `cancel` cancels. */
  #processId: number | undefined

  constructor(databaseUrl: string, options: MigrateOptions) {
    this.#url = databaseUrl
    this.#options = options
  }

  async applyAll(): Promise<string[]> {
    const client = await openLong(this.#url)
    this.#client = client
    const applied: string[] = []
    while ((await this.#findNext(client)) !== undefined) {
      this.#options.signal?.throwIfAborted()
      const name = await this.#applyPatiently(client)
      if (name !== undefined) applied.push(name)
    }
    const unknown = await countUnknown(await readApplied(client), this.#options.directory)
    const migrations = unknown === 1 ? '1 migration' : `${unknown} migrations`
    if (unknown > 0) this.#options.say(`The database is newer than this version: it has ${migrations} more.`)
    return applied
  }

  /** The first migration that is not finished; undefined if all are. */
  async #findNext(client: pg.Client): Promise<string | undefined> {
    return (await findMissing(await readApplied(client), this.#options.directory))[0]
  }

  /** A backup, or another program that holds a table, may end in a moment. */
  async #applyPatiently(client: pg.Client): Promise<string | undefined> {
    const { lockAttempts, say, signal } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#applyNext(client)
      } catch (error) {
        const { message, cause } = error as Error
        if (attempt >= lockAttempts || !isLockTimeout(cause)) throw error
        say(`${message}. It tries again (${attempt} of ${lockAttempts}).`)
        await setTimeout(betweenAttemptsMs, undefined, { signal })
      }
    }
  }

  /** @returns its name; undefined if another process was faster */
  async #applyNext(client: pg.Client): Promise<string | undefined> {
    await beginLocked(client, this.#options)
    try {
      const name = await this.#findNext(client)
      if (name !== undefined) await this.#apply(client, await readMigration(name, this.#options.directory))
      await client.query('COMMIT')
      return name
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      throw error
    }
  }

  async #apply(client: pg.Client, migration: Migration): Promise<void> {
    const unfinished = await openLedger(client)
    try {
      if (indexPattern.test(migration.sql)) await this.#changeIndexAside(client, migration)
      else await this.#run(client, migration.sql)
    } catch (error) {
      throw explain(error, migration, unfinished.includes(migration.name))
    }
    // What a script has set is not for the next one, nor for who gets this connection of a pooler.
    await client.query('RESET ALL')
    await client.query(
      `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = $1 AND rolled_back_at IS NULL`,
      [migration.name],
    )
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [newId(), migration.checksum, migration.name],
    )
  }

  /** In a partitioned table an index is built in each leaf; then that of the table takes them all, and builds nothing: leaves stay the same meanwhile. */
  async #changeIndexAside(client: pg.Client, { sql }: Migration): Promise<void> {
    const [, verb, isUnique = '', own = '', schema = '', table] = indexPattern.exec(sql) ?? []
    // An index is in the schema of its table.
    const name = `${schema}${own}`
    // With a parameter the question would keep its snapshot, and the index would wait for it.
    await client.query(`SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(${leavesLock})`)
    // Not on the other connection, which would wait in a transaction with the snapshot of its last question.
    const aside = await openLong(this.#url)
    try {
      // It waits for all who write, and holds up none of them.
      for (const timeout of ['statement_timeout', 'lock_timeout']) await aside.query(`SET ${timeout} = 0`)
      const leaves = table === undefined ? [] : await readLeaves(aside, `${schema}${table}`)
      for (const leaf of leaves) {
        const index = `${own.replaceAll('"', '').slice(0, longestName)}${leaf.name.slice(leaf.name.lastIndexOf('_'))}`
        const head = `CREATE${isUnique} INDEX CONCURRENTLY ${index} ON ${leaf.name}`
        const { rowCount } = await aside.query(isBuiltSql, [`history.${index}`, leaf.name])
        if (rowCount === 0)
          await this.#changeOne(aside, 'CREATE', `history.${index}`, sql.replace(indexPattern, head))
      }
      const { rowCount: isOfLeaves } = await aside.query(isOfLeavesSql, [name])
      if (leaves.length === 0 && isOfLeaves === 0) return await this.#changeOne(aside, verb, name, sql)
    } finally {
      await aside.query('RESET ALL').catch(() => {})
      await aside.end()
    }
    await client.query(`SET lock_timeout = '1s'`)
    await this.#run(
      client,
      sql.replace(indexPattern, (head) => head.replace(' CONCURRENTLY', '')),
    )
  }

  /**
   * What was interrupted leaves an index that nothing uses, or is done and has no row. If its process was killed, Postgres still
   * builds it: nobody else runs this statement under the lock.
   */
  async #changeOne(aside: pg.Client, verb: string | undefined, name: string, sql: string): Promise<void> {
    const drop = `DROP INDEX CONCURRENTLY IF EXISTS ${name}`
    await aside.query(endLeftOverSql, [sql])
    await this.#run(aside, drop)
    if (verb === 'DROP') return
    await this.#run(aside, sql).catch(async (error) => {
      // An invalid unique index would go on refusing rows.
      if (!this.#options.signal?.aborted) await aside.query(drop).catch(() => {})
      throw error
    })
  }

  async #run(client: pg.Client, sql: string): Promise<void> {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    this.#options.signal?.throwIfAborted()
    this.#processId = rows[0]?.pid
    await client.query(sql)
    this.#processId = undefined
  }

  async cancel(): Promise<void> {
    if (this.#processId === undefined) return
    const client = await openLong(this.#url)
    await client.query('SELECT pg_cancel_backend($1)', [this.#processId])
    await client.end()
  }

  async close(): Promise<void> {
    await this.#client?.end()
  }
}

async function readApplied(client: pg.Client): Promise<Pick<Migration, 'name' | 'checksum'>[]> {
  return (await hasLedger(client)) ? (await client.query(readAppliedSql)).rows : []
}

async function hasLedger(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') AS name`)
  return rows[0].name !== null
}

/** As Prisma creates it. Its command line reads it, too. */
const ledgerSql = `
  CREATE TABLE _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`

const isUsedSql = `
  SELECT FROM pg_class
  WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
  LIMIT 1`

/** Creates the ledger if it is missing. @returns the migrations that were begun in a program that has not finished them */
async function openLedger(client: pg.Client): Promise<string[]> {
  if (!(await hasLedger(client))) {
    const { rowCount } = await client.query(isUsedSql)
    if (rowCount !== 0) throw new OtherTables()
    await client.query(ledgerSql)
  }
  const { rows } = await client.query<{ name: string }>(
    `SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL`,
  )
  return rows.map(({ name }) => name)
}

/** Waits until they have ended. $1: the statement, of which Postgres shows the beginning. */
const endLeftOverSql = `
  SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND left(query, 500) = left($1, 500)`

const indexPattern =
  /^(CREATE|DROP)( UNIQUE)? INDEX CONCURRENTLY (?:IF (?:NOT )?EXISTS )?((?:"?\w+"?\.)?"?\w+"?)(?:\s+ON (?:ONLY )?("?\w+"?\.)?("?\w+"?))?/m

/** Of the index of a leaf, before the name of its range. Postgres cuts longer ones off. */
const longestName = 63 - '_20260105'.length

/** $1 index, $2 table */
const isBuiltSql = `SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indrelid = to_regclass($2) AND indisvalid`

/** Postgres drops one of a partitioned table with those of its leaves alone. */
const isOfLeavesSql = `SELECT FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'I'`

function explain(error: unknown, { name, sql }: Migration, wasInterrupted: boolean): Error {
  const cause = describeDatabaseError(error)
  if (!wasInterrupted) return new Error(`${name} has changed nothing: ${cause}`, { cause: error })
  return new Error(
    `${name} was interrupted in another program, which runs its statements one by one, after some of them (${cause}). ` +
      `Execute those that are missing by hand, and then this one:\n` +
      `UPDATE _prisma_migrations SET finished_at = now() WHERE migration_name = '${name}' AND rolled_back_at IS NULL;\n\n${sql}`,
    { cause: error },
  )
}
