import { lowestId, Prisma } from '@automation/database'
import type { ErasedValue } from '@automation/engine'
import type { Transaction } from '../removal/removal.js'
import { type ErasedRows, eraseRelated } from './erase-events.js'

const pageRows = 1_000
/** How many of a page are erased in one step, with their chains. */
const maxEnded = 50

/**
 * Erases a value from executions whose WAIT was ended by an event of which it was erased: they have kept fields of its data. Nothing leads from an event to
 * them, so all executions of the workspace are looked at, page by page. It needs the lock of the workspace.
 *
 * @returns the id behind which the next page begins; undefined after the last one
 */
export async function eraseEnded(
  transaction: Transaction,
  workspaceId: string,
  value: ErasedValue,
  after: string | null,
): Promise<ErasedRows & { next: string | undefined }> {
  const page = await transaction.$queryRaw<{ id: string; eventId: string; isEnded: boolean }[]>(Prisma.sql`
    SELECT id, event_id AS "eventId",
           CASE WHEN position('"endedBy"' IN results::text) > 0 THEN EXISTS (
             SELECT FROM json_array_elements(results) AS result
             WHERE (SELECT erased_at FROM events
                    WHERE events.id = (result->'endedBy'->>'eventId')::uuid AND events.workspace_id = ${workspaceId}::uuid) IS NOT NULL)
           ELSE false END AS "isEnded"
    FROM (
      SELECT id, event_id, results FROM executions
      WHERE workspace_id = ${workspaceId}::uuid AND (workspace_id, id) > (${workspaceId}::uuid, ${after ?? lowestId}::uuid)
      ORDER BY workspace_id, id LIMIT ${pageRows}
    ) AS page
    ORDER BY id`)
  const ended = page.filter(({ isEnded }) => isEnded).slice(0, maxEnded)
  const isCut = ended.length === maxEnded
  const last = isCut ? ended.at(-1) : page.at(-1)
  const eventIds = [...new Set(ended.map(({ eventId }) => eventId))]
  const rows = await eraseRelated(transaction, workspaceId, value, eventIds)
  return { ...rows, next: isCut || page.length === pageRows ? last?.id : undefined }
}
