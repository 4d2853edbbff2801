import { refusals } from '../errors.js'
import { readCursor, writeCursor } from './cursor.js'

/** Prisma's arguments for a page, the newest row first. Ids are UUID v7, so this is the order of ids. */
export function pageArguments({ cursor }: { cursor?: string }, limit: number | undefined) {
  return {
    where: cursor === undefined ? {} : { id: { lt: readCursor(cursor) } },
    orderBy: { id: 'desc' as const },
    // One row more than the limit shows whether there is a next page.
    ...(limit === undefined ? {} : { take: limit + 1 }),
  }
}

/** Presents the rows that were found with these arguments; nextCursor is null on the last page. */
export function cutPage<Row extends { id: string }>(
  rows: Row[],
  limit: number,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  return { page, nextCursor: writeCursor(rows.length > limit ? page.at(-1)?.id : undefined) }
}

/**
 * Cuts a page from a list that is short enough to be read as a whole.
 *
 * @param keyOf what a row has that no other one has
 * @throws a 400 refusal if the list does not have the row of the cursor, or not any more
 */
export function cutList<Row>(
  rows: Row[],
  { cursor, limit = rows.length }: { cursor?: string; limit?: number },
  keyOf: (row: Row) => string,
): { data: Row[]; nextCursor: string | null } {
  const last = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString()
  const start = last === undefined ? 0 : rows.findIndex((row) => keyOf(row) === last) + 1
  if (last !== undefined && start === 0) throw refusals.invalidCursor()
  const data = rows.slice(start, start + limit)
  const next = start + limit < rows.length ? data.at(-1) : undefined
  return { data, nextCursor: writeCursor(next && keyOf(next)) }
}
