import { attachSql, boundOf, isEmpty, type Transaction } from './leaf-tables.js'
import type { Leaf } from './plan-leaves.js'
import { withLock } from './with-lock.js'

/** Postgres attaches a leaf that has a constraint of its range without a look at its rows. */
const constraint = 'leaf_range'
/** In these constraints a leaf says where it will end. */
const boundPattern = /< '([0-9a-f-]{36})'/

interface Proof {
  isValid: boolean
  /** The id at which it ends. */
  end: string | undefined
}

/**
 * Makes Postgres know that all rows of a leaf are in a range, while others write: a constraint for new rows, which is then compared with the old ones.
 *
 * @returns `done`, also if there are no rows; `begun` if it has to be called again, in a transaction of its own; `waits` if somebody holds the leaf
 */
export async function proveRange(
  transaction: Transaction,
  name: string,
  range: Leaf,
): Promise<'done' | 'begun' | 'waits'> {
  const proof = await readProof(transaction, name)
  const isOther = proof && boundOf(range.to) !== `'${proof.end}'`
  if (proof?.isValid && !isOther) return 'done'
  if (isOther) {
    if (!(await withLock(transaction, [name], () => transaction.query(forgetSql(name))))) return 'waits'
  } else if (proof) await transaction.query(`ALTER TABLE ${name} VALIDATE CONSTRAINT ${constraint}`)
  else {
    if (await isEmpty(transaction, name)) return 'done'
    const add = `${proofSql(name, range)} NOT VALID`
    if (!(await withLock(transaction, [name], () => transaction.query(add)))) return 'waits'
  }
  return 'begun'
}

/** Of an empty table, which gets rows of the range alone. */
export async function prove(transaction: Transaction, name: string, range: Leaf): Promise<void> {
  await transaction.query(proofSql(name, range))
}

function proofSql(name: string, range: Leaf): string {
  const [from, to] = [boundOf(range.from), boundOf(range.to)]
  const ends = [from && `id >= ${from}`, to && `id < ${to}`].filter(Boolean).join(' AND ')
  return `ALTER TABLE ${name} ADD CONSTRAINT ${constraint} CHECK (${ends})`
}

export async function readProof(transaction: Transaction, name: string): Promise<Proof | undefined> {
  const { rows } = await transaction.query<{ isValid: boolean; text: string }>(
    `SELECT convalidated AS "isValid", pg_get_constraintdef(oid) AS text FROM pg_constraint
     WHERE conrelid = $1::regclass AND conname = $2`,
    [name, constraint],
  )
  const [row] = rows
  return row && { isValid: row.isValid, end: boundPattern.exec(row.text)?.[1] }
}

/** Attaches a leaf with another range, under the lock of its table and its own. */
export function attachAnewSql(table: string, name: string, range: Leaf): string {
  return `${attachSql(table, name, range)}; ${forgetSql(name)}`
}

/** Without a constraint it does nothing. */
export function forgetSql(name: string): string {
  return `ALTER TABLE ${name} DROP CONSTRAINT IF EXISTS ${constraint}`
}
