import { isUuid } from '@automation/database'
import { refusals } from './errors.js'

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

export function cutPage<Row extends { id: string }>(
  rows: Row[],
  limit: number,
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last ? Buffer.from(last.id).toString('base64url') : null }
}

/** @throws a 400 refusal for a text that never was a cursor of ours */
function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (!isUuid(id)) throw refusals.badRequest('Query parameter cursor is not a cursor')
  return id
}
