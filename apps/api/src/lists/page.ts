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
