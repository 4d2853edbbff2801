import { type AttachedLeaf, isOld, type Kept, leafNameOf, Prisma, readLeaves } from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import { boundOf } from './bound-of.js'
import { readDoneTo } from './exchange-row.js'
import { clientOf } from './exchanged-leaves.js'
import type { History } from './histories.js'
import { wholeFrom } from './whole-from.js'

/**
 * The leaves that have become old since the last exchange, and those before them as long as these are not larger together: so what stays is in few leaves, and
 * is copied seldom.
 */
export async function leavesToExchange(
  transaction: Transaction,
  history: History,
  kept: Kept,
): Promise<AttachedLeaf[]> {
  const leaves = await readLeaves(clientOf(transaction), history.name)
  const from = wholeFrom(leaves, kept.days, await readDoneTo(transaction, history))
  let first = leaves.findIndex((leaf) => boundOf(leaf.from) >= from && isOld(leaf, kept))
  if (first === -1) return []
  const old = leaves.filter((leaf) => isOld(leaf, kept))
  let size = await sizeOf(transaction, history, old.slice(first))
  for (; first > 0; first--) {
    const before = await sizeOf(transaction, history, old.slice(first - 1, first))
    if (before > size) break
    size += before
  }
  return old.slice(first)
}

async function sizeOf(
  transaction: Transaction,
  { tables }: History,
  leaves: AttachedLeaf[],
): Promise<number> {
  const names = tables.flatMap(({ name }) => leaves.map((leaf) => `history.${leafNameOf(name, leaf)}`))
  const [row] = await transaction.$queryRaw<{ size: number }[]>(Prisma.sql`
    SELECT sum(pg_table_size(to_regclass(name)))::float8 AS size FROM unnest(${names}::text[]) AS name`)
  return row?.size ?? 0
}
