import type { EventEmitter } from 'node:events'
import pg from 'pg'

/** How long (ms) a caller waits for a free connection. */
const connectMs = 2_000
/** How long (ms) a statement may take, measured here and, where the server still works, by the server. */
const defaultStatementMs = 10_000
/** How long (ms) a transaction may stand still between two statements before the server ends it. */
const idleInTransactionMs = 10_000

/**
 * Opens a pool that hands out nothing but clean connections. Nothing waits for ever: a connection comes within 2 s, a statement
 * ends within 10 s, and the server itself ends a transaction that its client has left.
 *
 * A connection goes back into the pool only if no transaction and no statement is open on it. Otherwise the next statement
 * would run inside a transaction that nobody commits: its caller would get rows, and the rows would vanish.
 *
 * @param url `postgresql://…`
 * @param size connections at most
 * @param statementMs how long a statement may take
 */
export function openConnections(url: string, size: number, statementMs = defaultStatementMs): pg.Pool {
  return guard(new pg.Pool(settingsOf(url, size, statementMs)))
}

/**
 * Opens a pool of which transactions alone take connections; single statements go over `statements`. So no statement ever
 * meets a connection that a transaction has used.
 */
export function openTransactions(url: string, size: number, statements: pg.Pool): pg.Pool {
  class Transactions extends pg.Pool {
    override query = statements.query.bind(statements) as pg.Pool['query']
  }
  return guard(new Transactions(settingsOf(url, size, defaultStatementMs)))
}

function settingsOf(url: string, size: number, statementMs: number): pg.PoolConfig {
  return {
    Client: Connection,
    connectionString: url,
    max: size,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    // The pool leaves its idle timers behind when it ends; they must not keep the process.
    allowExitOnIdle: true,
  }
}

function guard(pool: pg.Pool): pg.Pool {
  // An idle connection that breaks is replaced by the next statement, which reports the fault if it lasts.
  pool.on('error', () => {})
  pool.on('connect', hideRows)
  // The pool keeps no connection that has begun to end.
  pool.on('release', (_error, client) => {
    if (!(client as unknown as Connection).isClean()) client.end()
  })
  return pool
}

/** A connection to Postgres that does not outlive a response that failed to come, and does not take a rollback for a commit. */
class Connection extends pg.Client {
  /** False inside a transaction, and while the server still works on a statement. A status of null: it has had none yet. */
  isClean(): boolean {
    const { readyForQuery } = this as unknown as { readyForQuery: boolean }
    const status = this.getTransactionStatus()
    return status === null || (readyForQuery && status === 'I')
  }

  /** Pools pass a callback, Prisma takes the promise. */
  // biome-ignore lint/suspicious/noExplicitAny: pg declares a dozen shapes of this call
  override query(statement: any, values?: any, callback?: any): any {
    if (callback === undefined) return this.#run(statement)
    return super.query(statement, values, (error: Error, result: pg.QueryResult) => {
      this.#endIfLate(error)
      callback(error, result)
    })
  }

  async #run(statement: pg.QueryConfig | string): Promise<pg.QueryResult> {
    try {
      const result = await super.query(statement as pg.QueryConfig)
      // Postgres answers COMMIT so, and without an error, after a statement of the transaction has failed.
      if (result.command === 'ROLLBACK' && textOf(statement) === 'COMMIT')
        throw new Error('The transaction was rolled back, since one of its statements had failed')
      return result
    } catch (error) {
      this.#endIfLate(error as Error)
      throw error
    }
  }

  /** Its response may still come, and until then whatever is asked next would wait behind it. */
  #endIfLate(error: Error | undefined): void {
    if (error?.message !== 'Query read timeout') return
    const { connection } = this as unknown as { connection: { stream: { destroy(error: Error): void } } }
    connection.stream.destroy(error)
  }
}

function textOf(statement: pg.QueryConfig | string): string {
  return typeof statement === 'string' ? statement : statement.text
}

/** Postgres tells the row that it refuses in the details of its error, and errors are logged: whose data it was is kept from there. */
function hideRows(client: pg.PoolClient): void {
  const { connection } = client as unknown as { connection: EventEmitter }
  connection.prependListener('errorMessage', (error: pg.DatabaseError) => {
    // The names of columns stay: by them Prisma tells which key was there already.
    error.detail = error.detail?.replace(/Failing row contains .*|(?<=^Key \([^)]*\))=.*/s, '')
    error.where = undefined
  })
}
