import { Prisma, type WorkspaceDatabase } from '@automation/database'
import { Type } from 'typebox'

/** Nobody does more than that at once, and counting millions would take longer than a statement may. */
const maxCounted = 100_000

/** Tells a count, for a route that does something with all that a filter names. */
export const Matches = Type.Object({
  matched: Type.Integer({
    description: `how many there are, beyond what one call does, too; counted up to ${maxCounted}`,
  }),
  atLeast: Type.Optional(
    Type.Boolean({ description: 'true where there are more than `matched`; absent otherwise' }),
  ),
})
export type Matches = Type.Static<typeof Matches>

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
