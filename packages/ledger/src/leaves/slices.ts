import { clockSkewMs, Prisma, timeOf } from '@automation/database'
import { dayMs } from '../removal/keeping-executions.js'
import type { Transaction } from '../removal/removal.js'
import { boundOf } from './bound-of.js'
import type { Exchange } from './exchange-row.js'
import type { Exchanged, Scope } from './exchanged-rows.js'

/** The next rows of an exchange, about `size` of each table. They are whole milliseconds: what belongs together is together. */
export async function nextSlice(
  transaction: Transaction,
  exchange: Exchange,
  size: number,
): Promise<Exchanged> {
  let to = boundOf(exchange.to)
  for (const { name } of exchange.history.tables)
    to = await endOfSlice(transaction, name, 'id', { from: exchange.place, to }, size)
  return exchangedOf(exchange, { from: exchange.place, to })
}

export function exchangedOf({ history, from, to, removesAt, keptDays }: Exchange, scope: Scope): Exchanged {
  const endedBefore = removesAt - clockSkewMs - keptDays * dayMs
  return { history, removed: { endedBefore, from: boundOf(from), to: boundOf(to) }, scope }
}

/** @returns the id, exclusive, at which about `size` rows end, with the last millisecond of them */
export async function endOfSlice(
  transaction: Transaction,
  table: string,
  column: string,
  { from, to }: Scope,
  size: number,
): Promise<string> {
  // With its table: the text of the result has the same name, and Postgres would sort all texts.
  const [name, id] = [Prisma.raw(table), Prisma.raw(`${table}.${column}`)]
  const [row] = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT ${id}::text AS id FROM ${name} WHERE ${id} >= ${from}::uuid AND ${id} < ${to}::uuid
    ORDER BY ${id} OFFSET ${size} LIMIT 1`)
  if (row === undefined) return to
  const next = boundOf(timeOf(row.id) + 1)
  return next < to ? next : to
}
