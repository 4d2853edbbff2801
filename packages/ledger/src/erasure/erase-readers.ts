import { Prisma } from '@automation/database'
import type { ErasedValue } from '@automation/engine'
import type { Transaction } from '../removal/removal.js'
import { rowsBehind } from '../turns/rows-behind.js'
import { type ErasedRows, eraseRelated } from './erase-events.js'

const pageRows = 1_000
/** How many of a page are erased in one step, with their chains. */
const maxReaders = 50

/**
 * Erases a value from executions that read other events than their own, of which it was erased: batches that collected one, and executions whose WAIT one
 * ended, with all that belongs to their own events. These may be read by others in turn, so it is to be repeated as long as it erases events. All
 * executions of the workspace are looked at, page by page: what was left because it was not finished is found by the next erasure. It needs the lock of the
 * workspace.
 *
 * @returns the id behind which the next page begins; undefined after the last one
 */
export async function eraseReaders(
  transaction: Transaction,
  workspaceId: string,
  value: ErasedValue,
  after: string | null,
): Promise<ErasedRows & { next: string | undefined }> {
  const page = await transaction.$queryRaw<{ id: string; eventId: string; isReader: boolean }[]>(Prisma.sql`
    SELECT id, event_id AS "eventId",
           CASE WHEN position('"endedBy"' IN results::text) > 0 THEN EXISTS (
             SELECT FROM json_array_elements(results) AS result
             WHERE (SELECT erased_at FROM events
                    WHERE events.id = (result->'endedBy'->>'eventId')::uuid AND events.workspace_id = ${workspaceId}::uuid) IS NOT NULL)
           ELSE false END
           OR EXISTS (
             SELECT FROM key_claims JOIN events ON events.id = key_claims.event_id AND events.workspace_id = ${workspaceId}::uuid
             WHERE key_claims.batch_id = page.id AND key_claims.workspace_id = ${workspaceId}::uuid AND erased_at IS NOT NULL) AS "isReader"
    FROM (
      SELECT id, event_id, results FROM executions
      WHERE ${rowsBehind(workspaceId, after)}
      ORDER BY workspace_id, id LIMIT ${pageRows}
    ) AS page
    ORDER BY id`)
  const readers = page.filter(({ isReader }) => isReader).slice(0, maxReaders)
  const isCut = readers.length === maxReaders
  const last = isCut ? readers.at(-1) : page.at(-1)
  const eventIds = [...new Set(readers.map(({ eventId }) => eventId))]
  const rows = await eraseRelated(transaction, workspaceId, value, eventIds)
  return { ...rows, next: isCut || page.length === pageRows ? last?.id : undefined }
}
