import { Prisma, type UnscopedSql } from '@automation/database'

/** So many rows are read at most, deliveries to subscriptions among them, and so many ids found. */
const mostRead = 500
export const mostNewer = 100

/** Finds the ids of events that are newer than one, newest first. Deliveries to subscriptions are left out. */
export async function findNewerEvents(
  database: UnscopedSql,
  workspaceId: string,
  after: string,
): Promise<string[]> {
  const rows = await database.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id FROM (
      SELECT id, addressee_kind FROM events WHERE workspace_id = ${workspaceId}::uuid AND id > ${after}::uuid
      ORDER BY id DESC LIMIT ${mostRead}
    ) AS newest
    WHERE addressee_kind IS DISTINCT FROM 'subscription' ORDER BY id DESC LIMIT ${mostNewer}`)
  return rows.map(({ id }) => id)
}
