import { Prisma, type WorkspaceDatabase } from '@automation/database'

/** No call changes more rows than this, and counting millions would take longer than a statement may. */
export const maxCounted = 100_000

/** How many rows a filter matches. */
export interface Matches {
  /** Counted up to `maxCounted`. */
  matched: number
  /** true where there are more than `matched`; absent otherwise. */
  atLeast?: true
}

/** @param rows what follows FROM */
export async function countMatches(
  database: Pick<WorkspaceDatabase, '$queryRaw'>,
  rows: Prisma.Sql,
): Promise<Matches> {
  const [found] = await database.$queryRaw<{ count: number }[]>(
    Prisma.sql`SELECT count(*)::int AS count FROM (SELECT FROM ${rows} LIMIT ${maxCounted + 1}) AS matches`,
  )
  const count = found?.count ?? 0
  return count > maxCounted ? { matched: maxCounted, atLeast: true } : { matched: count }
}
