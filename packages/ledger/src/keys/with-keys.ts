import { hash } from 'node:crypto'
import { type Database, Prisma, type Statements, type WorkspaceTransaction } from '@automation/database'

/**
 * Runs a commit that depends on what others have committed under the same keys. It has them to itself: another one that shares a key begins
 * when this transaction has ended, and reads what it left. The end of a process or of its connection frees the keys.
 *
 * Keys are locked before any row, and in one order. So commits that share several of them never wait for each other, and no holder of a row waits
 * for a key.
 *
 * @param keys any texts, such as `key <id>`
 * @param work uses only the statements that it is given. It may run again, if its caller repeats a lock conflict
 */
export function withKeys<Result>(
  database: Pick<Database, 'transact'>,
  keys: Iterable<string>,
  work: (statements: Statements) => Promise<Result>,
): Promise<Result> {
  return database.transact(async (statements) => {
    await statements.run('lock_keys', lockKeysSql, [bucketsOf(keys)])
    return work(statements)
  })
}

/** Does the same within a transaction of Prisma, which must not have locked a row that commits with keys lock. */
export async function lockKeys(
  transaction: Pick<WorkspaceTransaction, '$queryRaw'>,
  keys: Iterable<string>,
): Promise<void> {
  const buckets = bucketsOf(keys)
  await transaction.$queryRaw(
    Prisma.sql`SELECT 1 FROM (SELECT pg_advisory_xact_lock(7701, bucket) FROM unnest(${buckets}::int[]) AS bucket) AS locks`,
  )
}

/**
 * Postgres has room for some 7,000 locks of all sessions (max_connections = 100), and refuses statements of everybody when it is full. Keys of one
 * bucket share a lock, so there are never more than these.
 */
const bucketCount = 4_096

/** $1 buckets, in the order of locking. 7701: nothing else in this database locks pairs of numbers. */
const lockKeysSql = 'SELECT pg_advisory_xact_lock(7701, bucket) FROM unnest($1::int[]) AS bucket'

function bucketsOf(keys: Iterable<string>): number[] {
  const buckets = new Set<number>()
  for (const key of keys) buckets.add(hash('sha256', key, 'buffer').readUInt16BE() % bucketCount)
  return [...buckets].sort((left, right) => left - right)
}
