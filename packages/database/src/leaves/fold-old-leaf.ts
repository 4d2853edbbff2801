import { type AttachedLeaf, detachSql, isEmpty, readLeaves, type Transaction } from './leaf-tables.js'
import { isOld, type Kept, leafNameOf } from './plan-leaves.js'
import { attachAnewSql, proveRange } from './prove-range.js'
import type { Step } from './step.js'
import { withLock } from './with-lock.js'

/**
 * Drops an old leaf that has lost its rows: the one before it gets its range, so an id of that time still has a leaf. Its constraint allows more than its bounds
 * do, and refuses nothing.
 */
export async function foldOldLeaf(
  transaction: Transaction,
  tables: readonly string[],
  kept: Kept,
): Promise<Step> {
  if (await isExchanged(transaction, tables)) return {}
  const leaves = await readLeaves(transaction, tables[0] as string)
  for (const [index, leaf] of leaves.entries()) {
    const before = leaves[index - 1]
    if (before && isOld(leaf, kept) && (await areEmpty(transaction, tables, leaf)))
      return fold(transaction, tables, leaf, before)
  }
  return {}
}

async function fold(
  transaction: Transaction,
  tables: readonly string[],
  leaf: AttachedLeaf,
  before: AttachedLeaf,
): Promise<Step> {
  const range = { from: before.from, to: leaf.to }
  for (const table of tables) {
    const state = await proveRange(transaction, nameOf(table, before), range)
    if (state !== 'done') return { goesOn: state === 'begun', waits: state === 'waits' }
  }
  const locked = [
    ...tables.map((table) => `ONLY ${table}`),
    ...tables.flatMap((table) => [nameOf(table, before), nameOf(table, leaf)]),
  ]
  const gone = await withLock(transaction, locked, async () => {
    if (!(await areEmpty(transaction, tables, leaf))) return []
    const statements = tables.flatMap((table) => [
      detachSql(table, nameOf(table, leaf)),
      `DROP TABLE ${nameOf(table, leaf)}`,
      detachSql(table, nameOf(table, before)),
      attachAnewSql(table, nameOf(table, before), range),
    ])
    await transaction.query(statements.join('; '))
    return tables.map((table) => leafNameOf(table, leaf))
  })
  return gone ? { goesOn: true, gone } : { waits: true }
}

/** Leaves that are being exchanged keep their ranges (packages/ledger/src/leaves). */
async function isExchanged(transaction: Transaction, tables: readonly string[]): Promise<boolean> {
  const { rows } = await transaction.query(
    'SELECT 1 FROM history.exchanges WHERE name = $1 AND step IS NOT NULL',
    [tables[0] as string],
  )
  return rows.length > 0
}

async function areEmpty(transaction: Transaction, tables: readonly string[], leaf: AttachedLeaf) {
  for (const table of tables) if (!(await isEmpty(transaction, nameOf(table, leaf)))) return false
  return true
}

function nameOf(table: string, leaf: AttachedLeaf): string {
  return `history.${leafNameOf(table, leaf)}`
}
