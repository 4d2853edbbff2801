import { isUuid, Prisma, type WorkspaceDatabase } from '@automation/database'
import { refusals } from './errors.js'

interface Page<Row> {
  page: Row[]
  /** null on the last page. */
  nextCursor: string | null
}

/**
 * Pages are newest first. Ids are UUID v7, so that is the order of ids, and the last id of a page, made opaque, is
 * the cursor of the next.
 */
export function pageArguments({ cursor }: { cursor?: string }, limit: number | undefined) {
  return {
    where: cursor === undefined ? {} : { id: { lt: readCursor(cursor) } },
    orderBy: { id: 'desc' as const },
    // One more than asked for tells whether there is a next page.
    ...(limit === undefined ? {} : { take: limit + 1 }),
  }
}

export function cutPage<Row extends { id: string }>(rows: Row[], limit: number): Page<Row> {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last ? writeCursor(last.id) : null }
}

/** What a list of history is narrowed by, in columns that are named with their table. */
export interface Narrowing {
  /** Where an index leads, to the workspace at least, and what is true of nearly all that lies there. */
  range: Prisma.Sql
  /** What may be true of few. */
  rest: Prisma.Sql | undefined
}

export function joinNarrowing({ range, rest }: Narrowing): Prisma.Sql {
  return rest === undefined ? range : Prisma.sql`${range} AND ${rest}`
}

/** So many rows are looked at for one page, however few of them it shows: a list of rare ones has short pages, and no end of time. */
const maxScanned = 20_000

/**
 * A page of a history that may be of any length. It may be short, and even empty, before the last one.
 *
 * @param columns as they are told, among them `id`
 */
export async function scanPage<Row extends { id: string }>(
  database: Pick<WorkspaceDatabase, '$queryRaw'>,
  table: Prisma.Sql,
  columns: Prisma.Sql,
  { range, rest }: Narrowing,
  { cursor, limit }: { cursor?: string; limit: number },
): Promise<Page<Row>> {
  const before =
    cursor === undefined ? Prisma.empty : Prisma.sql`AND ${table}.id < ${readCursor(cursor)}::uuid`
  const inOrder = Prisma.sql`FROM ${table} WHERE ${range} ${before} ORDER BY ${table}.id DESC`
  if (rest === undefined) {
    const query = Prisma.sql`SELECT ${columns} ${inOrder} LIMIT ${limit + 1}`
    return cutPage(await database.$queryRaw<Row[]>(query), limit)
  }
  const rows = await database.$queryRaw<Row[]>(Prisma.sql`
    SELECT ${columns} FROM (SELECT * ${inOrder} LIMIT ${maxScanned}) AS ${table} WHERE ${rest}
    ORDER BY ${table}.id DESC LIMIT ${limit + 1}`)
  const cut = cutPage(rows, limit)
  if (cut.nextCursor !== null) return cut
  const [end] = await database.$queryRaw<{ id: string }[]>(
    Prisma.sql`SELECT id ${inOrder} OFFSET ${maxScanned - 1} LIMIT 1`,
  )
  if (end === undefined) return cut
  // What came in between the two questions moves the end up, but not above what was shown.
  const last = cut.page.at(-1)
  return { page: cut.page, nextCursor: writeCursor(last && last.id < end.id ? last.id : end.id) }
}

export function writeCursor(id: string): string {
  return Buffer.from(id).toString('base64url')
}

/** undefined for a text that never was a cursor of ours. */
export function parseCursor(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString()
  return isUuid(id) ? id : undefined
}

/** @throws a 400 refusal for a text that never was a cursor of ours */
function readCursor(cursor: string): string {
  const id = parseCursor(cursor)
  if (id === undefined) throw refusals.badRequest('Query parameter cursor is not a cursor')
  return id
}
