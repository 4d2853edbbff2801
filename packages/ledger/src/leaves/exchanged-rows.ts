import { highestId, lowestId, Prisma } from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import { newLeafOf } from './exchanged-leaves.js'
import type { History, HistoryTable, Removed } from './histories.js'

/** Rows from one id to another one, exclusive; with `owners` those alone that belong to these rows. */
export interface Scope {
  from: string
  to: string
  owners?: string[]
}

export interface Exchanged {
  history: History
  removed: Removed
  scope: Scope
}

function leafOf(table: string): Prisma.Sql {
  return Prisma.raw(newLeafOf(table))
}

/** Copies rows of the tables into new leaves. @returns how many */
export async function copyRows(transaction: Transaction, exchanged: Exchanged): Promise<number> {
  const { history } = exchanged
  const copies = history.tables.map(
    ({ name }) => Prisma.sql`
      ${Prisma.raw(`copied_${name}`)} AS (
        INSERT INTO ${leafOf(name)} SELECT * FROM ${Prisma.raw(`kept_${name}`)} RETURNING 1
      )`,
  )
  const counts = history.tables.map(
    ({ name }) => Prisma.sql`(SELECT count(*)::int FROM ${Prisma.raw(`copied_${name}`)})`,
  )
  const [row] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    WITH ${keptSql(exchanged)}, ${Prisma.join(copies)} SELECT ${Prisma.join(counts, ' + ')} AS count`)
  return row?.count ?? 0
}

/** Removes rows from new leaves again. */
export async function takeBack(transaction: Transaction, { history, scope }: Exchanged): Promise<void> {
  for (const table of history.tables) {
    const leaf = leafOf(table.name)
    await transaction.$executeRaw(Prisma.sql`
      DELETE FROM ${leaf} AS ${Prisma.raw(table.name)} WHERE ${inScope(history, table, scope, leaf)}`)
  }
}

/**
 * Counts the rows that new leaves lack, have too much, or have otherwise than the tables. Those that have changed since they were copied are left out. It is
 * one statement, so it sees the tables, the leaves and what has changed at one moment.
 */
export async function countDifferences(transaction: Transaction, exchanged: Exchanged): Promise<number> {
  const { history, scope } = exchanged
  const counts = history.tables.map(({ name, owner }) => {
    const column = Prisma.raw(owner)
    const unchanged = Prisma.sql`${column} NOT IN (SELECT id FROM changed)`
    return Prisma.sql`(
      SELECT count(*)::int
      FROM (SELECT * FROM ${Prisma.raw(`kept_${name}`)} WHERE ${unchanged}) AS old
      FULL JOIN (
        SELECT * FROM ${leafOf(name)} WHERE id >= ${scope.from}::uuid AND id < ${scope.to}::uuid AND ${unchanged}
      ) AS new USING (id)
      WHERE old::text IS DISTINCT FROM new::text)`
  })
  const [row] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    WITH changed AS (SELECT id FROM history.changes WHERE name = ${history.name}), ${keptSql(exchanged)}
    SELECT ${Prisma.join(counts, ' + ')} AS count`)
  return row?.count ?? 0
}

/** `kept_<table>` of each table: the rows of a scope that stay. */
function keptSql({ history, removed, scope }: Exchanged): Prisma.Sql {
  const kept = history.tables.map(
    (table) => Prisma.sql`
      ${Prisma.raw(`kept_${table.name}`)} AS (
        SELECT * FROM ${Prisma.raw(table.name)}
        WHERE ${inScope(history, table, scope)} AND ${Prisma.raw(table.owner)} NOT IN (SELECT id FROM removed)
      )`,
  )
  const removedSql = history.removedSql(removed, (table) => inScope(history, table, scope))
  return Prisma.sql`${removedSql}, ${Prisma.join(kept)}`
}

/** What belongs to a row of the first table has an id of the same millisecond. */
function inScope(
  { name: first }: History,
  { name, owner }: HistoryTable,
  { from, to, owners }: Scope,
  source = Prisma.raw(name),
): Prisma.Sql {
  const id = Prisma.raw(`${name}.id`)
  const isInRange = Prisma.sql`${id} >= ${from}::uuid AND ${id} < ${to}::uuid`
  if (owners === undefined) return isInRange
  if (name === first) return Prisma.sql`${isInRange} AND ${id} = ANY (${owners}::uuid[])`
  return Prisma.sql`${isInRange} AND ${id} = ANY (ARRAY(
    SELECT own.id FROM unnest(${owners}::uuid[]) AS changed (id)
    JOIN ${source} AS own ON own.${Prisma.raw(owner)} = changed.id
      AND own.id >= overlay(changed.id::text PLACING ${lowestId.slice(13)} FROM 14)::uuid
      AND own.id <= overlay(changed.id::text PLACING ${highestId.slice(13)} FROM 14)::uuid))`
}
