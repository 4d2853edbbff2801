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

/** The order of a list that is short enough to be read as a whole. */
export interface ListOrder<Row> {
  /** It is part of the cursors: that of another list is refused. */
  list: string
  /** What a row has that no other one has. Rows are in its order. */
  placeOf: (row: Row) => string
  isNewestFirst?: boolean
}

/**
 * Cuts a page from such a list. It begins after the place of the cursor, whether the row of that place is still there or not: a loop may remove
 * what it reads.
 *
 * @throws a 400 refusal for what is not a cursor of this list
 */
export function cutList<Row>(
  rows: Row[],
  { cursor, limit = rows.length }: { cursor?: string; limit?: number },
  { list, placeOf, isNewestFirst = false }: ListOrder<Row>,
): { data: Row[]; nextCursor: string | null } {
  const sign = isNewestFirst ? -1 : 1
  const compare = (one: string, other: string) => (one < other ? -sign : one > other ? sign : 0)
  const places = rows
    .map((row) => ({ row, place: placeOf(row) }))
    .sort((one, other) => compare(one.place, other.place))
  const last = cursor === undefined ? undefined : readPlace(cursor, list)
  const rest = last === undefined ? places : places.filter(({ place }) => compare(place, last) > 0)
  const page = rest.slice(0, limit)
  const end = rest.length > limit ? page.at(-1)?.place : undefined
  return {
    data: page.map(({ row }) => row),
    nextCursor: writeCursor(end === undefined ? undefined : `${list}:${end}`),
  }
}

function readPlace(cursor: string, list: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!text.startsWith(`${list}:`)) throw refusals.invalidCursor()
  return text.slice(list.length + 1)
}
