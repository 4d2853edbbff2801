import { createHash } from 'node:crypto'
import { type Database, Prisma, type Statements, type WorkspaceTransaction } from '@automation/database'

/**
 * Runs a commit that depends on what others have committed under the same keys. It has them to itself: another one that shares a key begins
 * when this transaction has ended, and reads what it left. The end of a process or of its connection frees the keys.
 *
 * Keys are locked before any row, and in the order of their hashes. So commits that share several of them never wait for each other, and no
 * holder of a row waits for a key.
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
    await statements.run('lock_keys', lockKeysSql, [sortHashes(keys)])
    return work(statements)
  })
}

/** Does the same within a transaction of Prisma, which must not have locked a row that commits with keys lock. */
export async function lockKeys(
  transaction: Pick<WorkspaceTransaction, '$queryRaw'>,
  keys: Iterable<string>,
): Promise<void> {
  const hashes = sortHashes(keys)
  await transaction.$queryRaw(
    Prisma.sql`SELECT 1 FROM (SELECT pg_advisory_xact_lock(hash) FROM unnest(${hashes}::bigint[]) AS hash) AS locks`,
  )
}

/** $1 hashes, in the order of locking */
const lockKeysSql = 'SELECT pg_advisory_xact_lock(hash) FROM unnest($1::bigint[]) AS hash'

function sortHashes(keys: Iterable<string>): string[] {
  const hashes = Array.from(new Set(keys), (key) =>
    createHash('sha256').update(key).digest().readBigInt64BE(),
  )
  return hashes.sort((left, right) => (left < right ? -1 : 1)).map(String)
}
