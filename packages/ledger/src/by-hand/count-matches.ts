import { Prisma, type UnscopedSql } from '@automation/database'

/** No request changes more rows than this, and to count millions would take longer than a statement may. */
export const maxCounted = 100_000

/** How many rows a filter matches. */
export interface Matches {
  /** Counted up to `maxCounted`. */
  matched: number
  /** true where there are more than `matched`; absent otherwise. */
  atLeast?: true
}

/** @param rows the SQL that follows FROM, which names the workspace */
export async function countMatches(database: UnscopedSql, rows: Prisma.Sql): Promise<Matches> {
  const [found] = await database.$queryRaw<{ count: number }[]>(
    Prisma.sql`SELECT count(*)::int AS count FROM (SELECT FROM ${rows} LIMIT ${maxCounted + 1}) AS matches`,
  )
  const count = found?.count ?? 0
  return count > maxCounted ? { matched: maxCounted, atLeast: true } : { matched: count }
}
