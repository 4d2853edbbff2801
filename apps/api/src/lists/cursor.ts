import { isUuid } from '@automation/database'
import { refusals } from '../errors.js'

/**
 * The cursor of the next page: the id of the last row of a page, made opaque.
 *
 * @param id undefined for the last page
 */
export function writeCursor(id: string | undefined): string | null {
  return id === undefined ? null : Buffer.from(id).toString('base64url')
}

/** @returns undefined for a text that is not a cursor of this service */
export function parseCursor(cursor: string): string | undefined {
  const id = Buffer.from(cursor, 'base64url').toString()
  return isUuid(id) ? id : undefined
}

/** @throws a 400 refusal for a text that is not a cursor of this service */
export function readCursor(cursor: string): string {
  const id = parseCursor(cursor)
  if (id === undefined) throw refusals.invalidCursor()
  return id
}
