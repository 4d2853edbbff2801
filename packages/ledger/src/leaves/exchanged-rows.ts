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

/** Copies rows of the tables into new leaves, but for those that are there. @returns how many */
export async function copyRows(transaction: Transaction, exchanged: Exchanged): Promise<number> {
  const { history } = exchanged
  const copies = history.tables.map(
    ({ name }) => Prisma.sql`
      ${Prisma.raw(`copied_${name}`)} AS (
        INSERT INTO ${leafOf(name)} SELECT * FROM ${Prisma.raw(`kept_${name}`)}
        ON CONFLICT DO NOTHING RETURNING 1
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
 * Counts the rows that new leaves lack, or have otherwise than the tables. More rows than have to stay are no fault: what is kept may have become less. Those that
 * have changed since they were copied are left out. It is one statement, so it sees the tables, the leaves and what has changed at one moment.
 */
export async function countDifferences(
  transaction: Transaction,
  { history, removed, scope }: Exchanged,
): Promise<number> {
  const counts = history.tables.map((table) => {
    const [name, owner] = [Prisma.raw(table.name), Prisma.raw(table.owner)]
    const unchanged = Prisma.sql`${owner} NOT IN (SELECT id FROM changed)`
    return Prisma.sql`(
      SELECT count(*)::int
      FROM (
        SELECT id, ${name} AS one, ${owner} NOT IN (SELECT id FROM removed) AS stays FROM ${name}
        WHERE ${inScope(history, table, scope)} AND ${unchanged}
      ) AS old
      FULL JOIN (
        SELECT id, leaf AS one FROM ${leafOf(table.name)} AS leaf
        WHERE id >= ${scope.from}::uuid AND id < ${scope.to}::uuid AND ${unchanged}
      ) AS new USING (id)
      WHERE CASE WHEN new.id IS NULL THEN old.stays ELSE old.one::text IS DISTINCT FROM new.one::text END)`
  })
  const removedSql = history.removedSql(removed, (table) => inScope(history, table, scope))
  const [row] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    WITH changed AS MATERIALIZED (SELECT id FROM history.changes WHERE name = ${history.name}), ${removedSql}
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

/** What belongs to a row of the first table has an id of the same millisecond. With OFFSET Postgres looks for it there, once for each, and reads no leaf whole. */
export function inScope(
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
    SELECT own.id FROM (SELECT DISTINCT left(id::text, 13) AS moment FROM unnest(${owners}::uuid[]) AS changed (id)) AS moments
    CROSS JOIN LATERAL (
      SELECT id, ${Prisma.raw(owner)} AS owner FROM ${source}
      WHERE id >= ${from}::uuid AND id < ${to}::uuid
        AND id >= (moment || ${lowestId.slice(13)})::uuid AND id <= (moment || ${highestId.slice(13)})::uuid
      OFFSET 0
    ) AS own WHERE own.owner IN (SELECT unnest(${owners}::uuid[]))))`
}
