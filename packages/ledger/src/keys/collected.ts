import type { Database, UnscopedRows } from '@automation/database'
import { maxCollectedBytes, type StoredCollection } from '@automation/engine'

/** What a batch has collected. */
export interface CollectedEvents extends StoredCollection {
  /** Epoch ms: its moment. */
  readonly endsAt: number
}

interface CollectedRow {
  endsAt: number | null
  count: number
  data: string
  isRead: boolean
}

/** What is stored takes less room than its text, so what is too large as it is stored is not unpacked to be measured. $1 execution · $2 bytes · $3 workspace */
const readCollectedSql = `
  WITH members AS (
    SELECT event_id, accepted_at, ends_at, count(*) OVER () AS count,
           row_number() OVER (ORDER BY accepted_at DESC, event_id DESC) AS from_last
    FROM key_claims WHERE batch_id = $1::uuid AND workspace_id = $3::uuid
  ),
  stored_events AS (
    SELECT members.*, events.data,
           sum(pg_column_size(events.data)) OVER (ORDER BY members.accepted_at, event_id) <= $2::int AS is_short
    FROM members JOIN events ON events.id = event_id
  ),
  read_events AS (
    SELECT *, coalesce(is_short AND sum(CASE WHEN is_short THEN octet_length(data::text) END)
                         OVER (ORDER BY accepted_at, event_id) <= $2::int, false) AS is_read
    FROM stored_events
  )
  SELECT (SELECT round(date_part('epoch', max(ends_at)) * 1000) FROM members) AS "endsAt", count::int AS count,
         data::text AS data, is_read AS "isRead"
  FROM read_events WHERE is_read OR from_last = 1 ORDER BY accepted_at, event_id`

interface Batch {
  workspaceId: string
  executionId: string
}

/** Reads what an execution acts for. @returns undefined for one that is no batch */
export async function readCollected(
  database: Pick<Database, 'run'>,
  batch: Batch,
): Promise<CollectedEvents | undefined> {
  return collectedOf(await database.run<CollectedRow>('read_collected', readCollectedSql, valuesOf(batch)))
}

/** The same for a reader of the workspace. */
export async function findCollected(
  database: UnscopedRows,
  batch: Batch,
): Promise<CollectedEvents | undefined> {
  const sql = { text: readCollectedSql, values: valuesOf(batch) }
  return collectedOf(await database.$queryRows<CollectedRow>(sql))
}

function valuesOf({ workspaceId, executionId }: Batch) {
  return [executionId, maxCollectedBytes, workspaceId]
}

function collectedOf(rows: readonly CollectedRow[]): CollectedEvents | undefined {
  const last = rows.at(-1)
  if (last === undefined || last.endsAt === null) return undefined
  const events = rows.filter(({ isRead }) => isRead).map(({ data }) => data)
  return { endsAt: last.endsAt, count: last.count, events, last: last.data }
}
