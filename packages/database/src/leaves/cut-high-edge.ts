import { timeOf } from '../ids.js'
import { attachSql, createLike, detachSql, readLeaves, readNewest, type Transaction } from './leaf-tables.js'
import { isTooNear, type Kept, type Leaf, leafNameOf, nextCut } from './plan-leaves.js'
import { attachAnewSql, forgetSql, proveRange, readProof } from './prove-range.js'
import type { Step } from './step.js'
import { withLock } from './with-lock.js'

/**
 * Makes a leaf that ends weeks ahead of all ids: the high edge becomes it, with its rows, and an empty one follows.
 *
 *   constraint of its end ─▶ compared with its rows ─▶ attached with its end, and a new high edge
 *   └── only if it has rows ──────────────────────┘
 *
 * What comes after the end is refused while the constraint stands. So it goes, and with it this cut, if the end comes nearer than a week: then rows lie in the
 * high edge, as they did. A worker may be killed at each step, and the next one goes on.
 */
export async function cutHighEdge(
  transaction: Transaction,
  tables: readonly string[],
  kept: Kept,
): Promise<Step> {
  const [high] = (await readLeaves(transaction, tables[0] as string)).slice(-1)
  if (high === undefined) return {}
  const end = await findEnd(transaction, tables)
  if (end !== undefined && isTooNear(end, kept)) return giveUpCut(transaction, tables)
  const newest = await newestOf(transaction, tables)
  const cut = end === undefined ? nextCut(high, kept, newest) : { from: high.from, to: end }
  if (cut === undefined) return {}
  for (const table of tables) {
    const state = await proveRange(transaction, highOf(table), cut)
    if (state !== 'done') return { goesOn: state === 'begun', waits: state === 'waits' }
  }
  return swap(transaction, tables, cut)
}

/** Also if a row is after the end: its clock is weeks ahead. */
export async function giveUpCut(transaction: Transaction, tables: readonly string[]): Promise<Step> {
  const isDone = await withLock(transaction, tables.map(highOf), async () => {
    await transaction.query(tables.map((table) => forgetSql(highOf(table))).join('; '))
    return true
  })
  return isDone ? { gaveUp: true } : { waits: true }
}

async function swap(transaction: Transaction, tables: readonly string[], cut: Leaf): Promise<Step> {
  for (const table of tables) {
    // What somebody has left by hand must not be in the way for good.
    await transaction.query(`DROP TABLE IF EXISTS ${highOf(table)}_new`)
    await createLike(transaction, table, `${highOf(table)}_new`)
  }
  const locked = [...tables.map((table) => `ONLY ${table}`), ...tables.map(highOf)]
  const made = await withLock(transaction, locked, async () => {
    await transaction.query(tables.map((table) => swapSql(table, cut)).join('; '))
    return tables.map((table) => leafNameOf(table, cut))
  })
  if (made) return { goesOn: true, made }
  for (const table of tables) await transaction.query(`DROP TABLE ${highOf(table)}_new`)
  return { waits: true }
}

function swapSql(table: string, cut: Leaf): string {
  const leaf = leafNameOf(table, cut)
  return [
    detachSql(table, highOf(table)),
    `ALTER TABLE ${highOf(table)} RENAME TO ${leaf}`,
    attachAnewSql(table, `history.${leaf}`, cut),
    `ALTER TABLE ${highOf(table)}_new RENAME TO ${table}_high`,
    attachSql(table, highOf(table), { from: cut.to, to: Number.POSITIVE_INFINITY }),
  ].join('; ')
}

function highOf(table: string): string {
  return `history.${table}_high`
}

/** Where the leaf ends that somebody has begun to cut off. */
async function findEnd(transaction: Transaction, tables: readonly string[]): Promise<number | undefined> {
  for (const table of tables) {
    const proof = await readProof(transaction, highOf(table))
    if (proof?.end) return timeOf(proof.end)
  }
  return undefined
}

async function newestOf(transaction: Transaction, tables: readonly string[]): Promise<number | undefined> {
  const times: number[] = []
  for (const table of tables) times.push((await readNewest(transaction, highOf(table))) ?? 0)
  return Math.max(...times) || undefined
}
