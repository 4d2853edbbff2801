import { isUuid } from '@automation/database'
import { refusals } from '../errors.js'

interface Page<Row> {
  page: Row[]
  /** null on the last page. */
  nextCursor: string | null
}

/**
 * Prisma's arguments for a page, the newest row first. Ids are UUID v7, so this is the order of ids. The cursor of the next page is
 * the last id of a page, made opaque.
 */
export function pageArguments({ cursor }: { cursor?: string }, limit: number | undefined) {
  return {
    where: cursor === undefined ? {} : { id: { lt: readCursor(cursor) } },
    orderBy: { id: 'desc' as const },
    // One row more than the limit shows whether there is a next page.
    ...(limit === undefined ? {} : { take: limit + 1 }),
  }
}

export function cutPage<Row extends { id: string }>(rows: Row[], limit: number): Page<Row> {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last ? writeCursor(last.id) : null }
}

/** Presents a page of the ledger. */
export function pageOf<Row>({ rows, end }: { rows: Row[]; end: string | undefined }): Page<Row> {
  return { page: rows, nextCursor: end === undefined ? null : writeCursor(end) }
}

export function writeCursor(id: string): string {
  return Buffer.from(id).toString('base64url')
}

/** @returns undefined for a text that is not a cursor of this service */
export function parseCursor(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString()
  return isUuid(id) ? id : undefined
}

/** @throws a 400 refusal for a text that is not a cursor of this service */
export function readCursor(cursor: string): string {
  const id = parseCursor(cursor)
  if (id === undefined) throw refusals.badRequest('Query parameter cursor is not a cursor')
  return id
}
