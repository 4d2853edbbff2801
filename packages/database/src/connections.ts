import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { isReadOnly } from './database-errors.js'
import type { DatabaseLimits } from './database-limits.js'
import type { PrimaryWatch } from './primary-watch.js'
import { nameSslMode } from './ssl-mode.js'

/**
 * The server cancels a statement after this share of that time, and undoes it. This process gives up a statement only where no response
 * comes: then nobody knows what was done.
 */
const serverShare = 0.9
/** How much later (ms) than the server this process gives up a read. */
const lateMs = 2_000
/**
 * Each connection plans a prepared statement once. Postgres would plan it again each time, which takes as long as to run it for some events: a plan for known
 * ids seems cheaper, since it has the leaves of their time alone. The one for any ids opens no others either.
 */
const plannedOnce = '-c plan_cache_mode=force_generic_plan'
/** How long a caller waits: for a free connection, and for the end of a statement, or for the next one of a transaction. */
interface Waits extends Pick<DatabaseLimits, 'connectMs' | 'statementMs'> {
  /** Looks at the server of each new connection. */
  watch?: PrimaryWatch | undefined
}

/**
 * Opens a pool of clean connections. Nothing waits for ever: a caller gets a connection within 2 s, a statement ends within 10 s
 * (database-limits.ts), and the server itself ends a transaction that its client has abandoned.
 *
 * A connection returns to the pool only if no transaction and no statement is open on it. Otherwise the next statement would run
 * inside a transaction that nobody commits: its caller would get rows, and the rows would vanish.
 *
 * @param url `postgresql://…`
 * @param size the maximum number of connections
 */
export function openConnections(url: string, size: number, waits: Waits): pg.Pool {
  return keepClean(new pg.Pool({ ...settingsOf(url, size, waits), options: plannedOnce }))
}

/** Opens a pool for reads. The server cancels one that takes too long, and the connection stays: only then the fault is the query's. */
export function openReads(
  url: string,
  { connectMs, reads, watch }: DatabaseLimits & Pick<Waits, 'watch'>,
): pg.Pool {
  const waits = { connectMs, statementMs: reads.timeoutMs + lateMs, watch }
  return keepClean(new pg.Pool(settingsOf(url, reads.pool, waits, reads.timeoutMs)))
}

/**
 * Opens a pool whose connections serve transactions only. Single statements use `statements`, so no statement ever gets a
 * connection that a transaction has used.
 */
export function openTransactions(url: string, size: number, statements: pg.Pool, waits: Waits): pg.Pool {
  class Transactions extends pg.Pool {
    override query = statements.query.bind(statements) as pg.Pool['query']
  }
  return keepClean(new Transactions(settingsOf(url, size, waits)))
}

function settingsOf(
  url: string,
  size: number,
  { connectMs, statementMs, watch }: Waits,
  serverMs = Math.round(statementMs * serverShare),
): pg.PoolConfig {
  return {
    Client: Connection,
    connectionString: nameSslMode(url),
    max: size,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    statement_timeout: serverMs,
    // How long a transaction may be idle between two statements before the server ends it.
    idle_in_transaction_session_timeout: statementMs,
    keepAlive: true,
    // The pool does not clear its idle timers when it ends. They must not keep the process alive.
    allowExitOnIdle: true,
    ...(watch && { verify: (client: pg.PoolClient, done: Done) => verify(client, watch, done) }),
  }
}

/** Ends all connections of a pool at once: what waits for a response fails with this error. */
export function breakOff(pool: pg.Pool, error: Error): void {
  const { _clients: clients } = pool as unknown as { _clients: pg.Client[] }
  for (const client of [...clients]) streamOf(client).destroy(error)
}

function streamOf(client: pg.Client): { destroy(error: Error): void } {
  const { connection } = client as unknown as { connection: { stream: { destroy(error: Error): void } } }
  return connection.stream
}

type Done = (error?: Error) => void

/** Before the first statement of a connection. */
function verify(client: pg.PoolClient, watch: PrimaryWatch, done: Done): void {
  const connection = client as unknown as Connection
  watch.check(connection).then((isReplaced) => {
    connection.isReplaced = isReplaced
    done()
  }, done)
}

function keepClean(pool: pg.Pool): pg.Pool {
  // The next statement replaces an idle connection that broke, and reports the fault if it lasts.
  pool.on('error', () => {})
  pool.on('connect', hideRows)
  // The pool listens only to idle connections. One that breaks while it is in use, or ends, must not end the process: the next statement on it fails.
  pool.on('connect', (client) => client.on('error', () => {}))
  // The pool discards a connection that is ending.
  pool.on('release', (_error, client) => {
    if (!(client as unknown as Connection).isClean()) client.end()
  })
  return pool
}

/** A connection to Postgres that closes after a missing response, and does not mistake a rollback for a commit. */
class Connection extends pg.Client {
  /** A session keeps this setting, and its server: the next connection may find another one. */
  #isReadOnly = false
  /** Whether its server is an old primary by now. */
  isReplaced = () => false

  /**
   * False inside a transaction, while the server works on a statement, and where it has refused to write. The status is null before the first
   * statement.
   */
  isClean(): boolean {
    if (this.#isReadOnly || this.isReplaced()) return false
    const { readyForQuery } = this as unknown as { readyForQuery: boolean }
    const status = this.getTransactionStatus()
    return status === null || (readyForQuery && status === 'I')
  }

  /** Pools pass a callback; Prisma uses the promise. */
  // biome-ignore lint/suspicious/noExplicitAny: pg declares a dozen shapes of this call
  override query(statement: any, values?: any, callback?: any): any {
    if (callback === undefined) return this.#run(statement)
    return super.query(statement, values, (error: Error, result: pg.QueryResult) => {
      this.#noteError(error)
      callback(error, result)
    })
  }

  async #run(statement: pg.QueryConfig | string): Promise<pg.QueryResult> {
    try {
      const result = await super.query(statement as pg.QueryConfig)
      // Where a statement of the transaction has failed, Postgres responds to COMMIT with ROLLBACK, without an error.
      if (result.command === 'ROLLBACK' && textOf(statement) === 'COMMIT')
        throw new Error('The transaction was rolled back, since one of its statements had failed')
      return result
    } catch (error) {
      this.#noteError(error as Error)
      throw error
    }
  }

  #noteError(error: Error | undefined): void {
    if (isReadOnly(error)) this.#isReadOnly = true
    this.#endIfLate(error)
  }

  /** Closes the connection after a read timeout: the response may still come, and the next statement would wait behind it. */
  #endIfLate(error: Error | undefined): void {
    if (error?.message === 'Query read timeout') streamOf(this).destroy(error)
  }
}

function textOf(statement: pg.QueryConfig | string): string {
  return typeof statement === 'string' ? statement : statement.text
}

/** Removes rows from Postgres' errors: their details contain the refused row, and errors are logged, which must not show tenant data. */
function hideRows(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: EventEmitter }
  connection.prependListener('errorMessage', (error: pg.DatabaseError) => {
    // The names of columns stay: Prisma reads from them which key existed already.
    error.detail = error.detail?.replace(/Failing row contains .*|(?<=^Key \([^)]*\))=.*/s, '')
    error.where = undefined
  })
}
