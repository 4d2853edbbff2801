import { Prisma, sizeFields, type WorkspaceDatabase } from '@automation/database'

/** How many bytes of rows are in memory for one list. One row alone may have more. */
const maxBytesAtOnce = 524_288
/** How many bytes of rows a page has: beyond it the page is shorter than its limit. */
const maxBytesOfPage = 4_194_304
/** Of a row beside its texts: ids, times and counts. */
const rowBytes = 512

export interface Sized {
  /** Of its texts. */
  bytes: number
}
export type SizedRule = Sized & { id: string }
export type SizedVersion = Sized & { version: number }

/** Finds the numbers of a rule's versions, newest first, as far as a page reaches, and whether there are more. */
export async function findPageOfVersions(
  reads: WorkspaceDatabase,
  { workspaceId, ruleId, below }: { workspaceId: string; ruleId: string; below: number },
  limit: number,
): Promise<{ versions: SizedVersion[]; isLast: boolean }> {
  const sizes = await reads.$queryRaw<SizedVersion[]>(Prisma.sql`
    SELECT version, (${Prisma.raw(sizeFields())})::float8 AS bytes
    FROM rule_versions
    WHERE workspace_id = ${workspaceId}::uuid AND rule_id = ${ruleId}::uuid AND version < ${below}
    ORDER BY version DESC LIMIT ${limit + 1}`)
  const versions = cutByBytes(sizes.slice(0, limit))
  return { versions, isLast: versions.length === sizes.length }
}

export function sumOf(sizes: Sized[]): number {
  return sizes.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** As many of the first as a page has. */
export function cutByBytes<Item extends Sized>(sizes: Item[]): Item[] {
  const [page = []] = divideByBytes(sizes, maxBytesOfPage)
  return page
}

/** Reads rows in their order, a few at a time. @param read reads these rows */
export async function* readInParts<Row extends Sized, Part>(
  sizes: Row[],
  read: (rows: Row[]) => Promise<Part>,
): AsyncGenerator<Part> {
  for (const rows of divideByBytes(sizes, maxBytesAtOnce)) yield await read(rows)
}

/** Divides rows into parts of at most this many bytes, or of one row. */
function divideByBytes<Row extends Sized>(rows: Row[], maxBytes: number): Row[][] {
  const parts: Row[][] = []
  let room = 0
  for (const row of rows) {
    const bytes = row.bytes + rowBytes
    if (parts.length === 0 || bytes > room) {
      parts.push([])
      room = maxBytes
    }
    parts.at(-1)?.push(row)
    room -= bytes
  }
  return parts
}
