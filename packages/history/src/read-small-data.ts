import { Prisma, type UnscopedSql } from '@automation/database'

/** Of the data of one event, stored and as text: larger ones are left out. A list of 250 of them has 4 MiB at most. */
const mostStored = 4_096
const mostText = 16_384

/** Reads the data of some events, of those alone that have little: it is for their rows in a list. @returns it by their ids */
export async function readSmallData(
  database: UnscopedSql,
  workspaceId: string,
  eventIds: readonly string[],
): Promise<Map<string, object>> {
  if (eventIds.length === 0) return new Map()
  // In this order: what is large is never read.
  const rows = await database.$queryRaw<{ id: string; data: object }[]>(Prisma.sql`
    SELECT id, data FROM events
    WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${[...new Set(eventIds)]}::uuid[])
      AND CASE WHEN pg_column_size(data) > ${mostStored} THEN false ELSE octet_length(data::text) <= ${mostText} END`)
  return new Map(rows.map(({ id, data }) => [id, data]))
}
