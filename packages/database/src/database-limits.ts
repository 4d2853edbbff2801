/** How long (ms) callers wait for Postgres at most, and what the reads of all workspaces may take together. */
export interface DatabaseLimits {
  /** For a free connection. */
  connectMs: number
  /** For the end of a statement, and Postgres for the next one of a transaction. */
  statementMs: number
  /** For the end of a transaction that names no time of its own. */
  transactionMs: number
  reads: ReadLimits
}

export interface ReadLimits {
  /** Connections. */
  pool: number
  /** How long (ms) one may take. */
  timeoutMs: number
}

/**
 * The limits beside a pool for statements and transactions. A query of a list takes some ms; one that needs 2 s scans what no caller waits
 * for.
 */
export function databaseLimitsOf(poolSize: number): DatabaseLimits {
  const pool = Math.max(4, Math.round(poolSize * 0.4))
  return {
    connectMs: 2_000,
    statementMs: 10_000,
    transactionMs: 5_000,
    reads: { pool, timeoutMs: 2_000 },
  }
}
