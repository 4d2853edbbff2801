import { Prisma, timeOf } from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import type { Exchange } from './exchange-row.js'
import type { Exchanged, Scope } from './exchanged-rows.js'
import { newLeafOf } from './leaf-tables.js'
import { type Leaf, leavesOf } from './plan-exchange.js'
import { boundOf, timeOfBound } from './read-leaves.js'

/** The next rows of an exchange, about `size` of each table. They are of one new leaf, and whole milliseconds: what belongs together is together. */
export async function nextSlice(
  transaction: Transaction,
  exchange: Exchange,
  size: number,
): Promise<Exchanged> {
  const place = timeOfBound(exchange.place)
  const leaf = leavesOf(exchange).find(({ to }) => place < to) as Leaf
  let to = boundOf(leaf.to)
  for (const { name } of exchange.history.tables)
    to = await endOfSlice(transaction, name, 'id', { from: exchange.place, to }, size)
  return exchangedOf(exchange, leaf, { from: exchange.place, to })
}

export function exchangedOf({ history, removesAt, keptDays }: Exchange, leaf: Leaf, scope: Scope): Exchanged {
  const removed = removesAt === null ? undefined : { now: removesAt, defaultDays: keptDays }
  const leafOf = (table: string) => Prisma.raw(newLeafOf(table, leaf))
  return { history, removed, scope, leafOf }
}

/** @returns the id, exclusive, at which about `size` rows end, with the last millisecond of them */
export async function endOfSlice(
  transaction: Transaction,
  table: string,
  column: string,
  { from, to }: Scope,
  size: number,
): Promise<string> {
  const [name, id] = [Prisma.raw(table), Prisma.raw(column)]
  const [row] = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT ${id}::text AS id FROM ${name} WHERE ${id} >= ${from}::uuid AND ${id} < ${to}::uuid
    ORDER BY ${id} OFFSET ${size} LIMIT 1`)
  if (row === undefined) return to
  const next = boundOf(timeOf(row.id) + 1)
  return next < to ? next : to
}
