import { Type } from 'typebox'
import { readAs } from '../option-readers.js'
import { findRows } from '../present-answer.js'

const Limit = Type.Integer({ minimum: 1, maximum: 10_000 })

/** Of every list. */
export const limitOption = [
  '--limit <number>',
  'maximum number of entries, 1 to 10000',
  readAs(Limit),
  50,
] as const

/** What each list accepts. */
const largestPage = 100

type Row = Record<string, unknown>

/** The first rows of a list, over as many pages as it takes. @param read reads the page of a cursor */
export async function readRows(
  read: (page: { limit: number; cursor?: string }) => Promise<unknown>,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  do {
    const size = Math.min(limit - rows.length, largestPage)
    const page = await read({ limit: size, ...(cursor !== undefined && { cursor }) })
    rows.push(...findRows(page))
    const next = (page as { nextCursor?: string | null }).nextCursor ?? undefined
    // A list that repeats a cursor would have no end.
    cursor = next === cursor ? undefined : next
  } while (cursor !== undefined && rows.length < limit)
  return rows
}
