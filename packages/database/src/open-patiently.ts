import { type DatabaseLimits, databaseLimitsOf } from './database-limits.js'
import { type Database, openDatabase } from './open.js'

const patienceMs = 300_000

/**
 * For tests of anything but these limits: on a busy machine, a step of a test or of the product takes longer than any caller of the
 * product waits.
 */
export function patientLimitsOf(poolSize: number): DatabaseLimits {
  const { reads } = databaseLimitsOf(poolSize)
  return {
    connectMs: patienceMs,
    statementMs: patienceMs,
    transactionMs: patienceMs,
    reads: { ...reads, timeoutMs: patienceMs },
  }
}

/** As `openDatabase`, for tests. */
export function openPatiently(url: string, poolSize: number): Database {
  return openDatabase(url, poolSize, patientLimitsOf(poolSize))
}
