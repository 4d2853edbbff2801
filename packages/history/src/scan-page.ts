import { Prisma, type UnscopedSql } from '@automation/database'
import type { Narrowing } from '@automation/ledger'

/** How many rows are read for one page at most, however few of them it lists: a list of rare rows has short pages, and takes bounded time. */
const usualScanned = 20_000

/** One page of a list, the newest row first. */
export interface ScannedPage<Row> {
  rows: Row[]
  /** The id below which the next page begins; undefined on the last page. */
  end: string | undefined
}

/**
 * Reads a page of a history of any length. A page may be short, and even empty, before the last one.
 *
 * @param columns the select list; it contains `id`
 * @param before the `end` of the page before
 * @param maxScanned lower where a row is costly
 */
export async function scanPage<Row extends { id: string }>(
  database: UnscopedSql,
  table: Prisma.Sql,
  columns: Prisma.Sql,
  { range, rest }: Narrowing,
  { before, limit }: { before: string | undefined; limit: number },
  maxScanned = usualScanned,
): Promise<ScannedPage<Row>> {
  const below = before === undefined ? Prisma.empty : Prisma.sql`AND ${table}.id < ${before}::uuid`
  const inOrder = Prisma.sql`FROM ${table} WHERE ${range} ${below} ORDER BY ${table}.id DESC`
  if (rest === undefined) {
    const query = Prisma.sql`SELECT ${columns} ${inOrder} LIMIT ${limit + 1}`
    return cutPage(await database.$queryRaw<Row[]>(query), limit)
  }
  const found = await database.$queryRaw<Row[]>(Prisma.sql`
    SELECT ${columns} FROM (SELECT * ${inOrder} LIMIT ${maxScanned}) AS ${table} WHERE ${rest}
    ORDER BY ${table}.id DESC LIMIT ${limit + 1}`)
  const page = cutPage(found, limit)
  if (page.end !== undefined) return page
  const [scanned] = await database.$queryRaw<{ id: string }[]>(
    Prisma.sql`SELECT id ${inOrder} OFFSET ${maxScanned - 1} LIMIT 1`,
  )
  if (scanned === undefined) return page
  // Rows that came in between the two statements raise this end, but not above the last row of the page.
  const last = page.rows.at(-1)
  return { rows: page.rows, end: last && last.id < scanned.id ? last.id : scanned.id }
}

/** @param found one row more than the limit where there is a next page */
function cutPage<Row extends { id: string }>(found: Row[], limit: number): ScannedPage<Row> {
  const rows = found.slice(0, limit)
  return { rows, end: found.length > limit ? rows.at(-1)?.id : undefined }
}
