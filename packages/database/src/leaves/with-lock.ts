import { isStatementCancelled, isStatementTimeout } from '../database-errors.js'
import type { Transaction } from './leaf-tables.js'

/** Everybody who writes waits behind a statement that waits for a lock of a table, so it waits no longer (ms). */
const lockMs = 50

/** Of each statement under the locks (ms), and between two of them: it takes some ms, or something is wrong. */
const workMs = 1_000

/** An autovacuum ends for somebody who has waited for a second (`deadlock_timeout`). Nobody waits behind this wait but for such a lock (ms). */
const vacuumMs = 5_000

/**
 * Does something under locks of tables, which it keeps until its transaction ends. Nobody reads or writes them meanwhile, so it takes no time: as few messages to
 * Postgres as possible, since a busy process is slow to send the next one. If it is frozen, or cut off, Postgres ends its session.
 *
 * @returns undefined if not all locks were free in time; then nothing was done
 * @throws if it took too long: it would hold up everybody at each attempt, so this is no timeout after which callers try again
 */
export async function withLock<Result>(
  transaction: Transaction,
  tables: readonly string[],
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  let isLocked = false
  await transaction.query('SAVEPOINT before_lock')
  try {
    await transaction.query(`SET LOCAL lock_timeout = ${vacuumMs}`)
    await transaction.query(`LOCK TABLE ${tables.join(', ')} IN SHARE UPDATE EXCLUSIVE MODE`)
    // The first is for each of several locks, the second for all of them together.
    await transaction.query(`SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${lockMs}`)
    await transaction.query(`SET LOCAL idle_in_transaction_session_timeout = ${workMs}`)
    await transaction.query(
      `LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE; SET LOCAL statement_timeout = ${workMs}`,
    )
    isLocked = true
    return await work()
  } catch (error) {
    if (isLocked && isStatementTimeout(error))
      throw new Error('Work under locks took too long', { cause: error })
    if (isLocked || !isStatementCancelled(error)) throw error
    await transaction.query('ROLLBACK TO SAVEPOINT before_lock')
    return undefined
  }
}
