import { isStatementCancelled } from '@automation/database'
import type { Transaction } from '../removal/removal.js'

/** Everybody who writes waits behind a statement that waits for a lock of a table, so it waits no longer (ms). */
const lockMs = 50

/**
 * Does something under locks of tables, which it keeps until its transaction ends.
 *
 * @param lock as LOCK TABLE has it
 * @returns false if not all locks were free in time; then nothing was done
 */
export async function withLock(
  transaction: Transaction,
  lock: string,
  work: () => Promise<void>,
): Promise<boolean> {
  const execute = (sql: string) => transaction.$executeRawUnsafe(sql)
  await execute('SAVEPOINT before_lock')
  try {
    // The first is for each of several locks, the second for all of them together.
    await execute(`SET LOCAL lock_timeout = ${lockMs}`)
    await execute(`SET LOCAL statement_timeout = ${lockMs}`)
    await execute(`LOCK TABLE ${lock}`)
    await execute('SET LOCAL statement_timeout TO DEFAULT')
    await work()
    await execute('SET LOCAL lock_timeout TO DEFAULT')
    return true
  } catch (error) {
    if (!isStatementCancelled(error)) throw error
    await execute('ROLLBACK TO SAVEPOINT before_lock')
    return false
  }
}
