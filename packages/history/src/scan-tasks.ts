import { Prisma, type UnscopedRows } from '@automation/database'
import type { Narrowing } from '@automation/ledger'
import {
  maxSliceBytes,
  type ScanLimits,
  type Scanned,
  type Slice,
  scanSlices,
  type Visit,
} from './scan-events.js'

export interface ScannedTask {
  id: string
  /** Epoch ms: when it was created. */
  acceptedAt: number
  /** Its place among the tasks of the slice, from 1. */
  position: number
  /** JSON of `title`, `description` and `data`, the data of its event, which is null once that was removed. */
  json: string
}

/** Passes over the texts of tasks and the data of their events, the newest task first. A task that the narrowing leaves out is passed unread. */
export function scanTasks(
  /** Of the tenant's reads. */
  database: UnscopedRows,
  narrowing: Narrowing,
  /** The `end` of the scan before. */
  after: string | undefined,
  limits: ScanLimits,
  visit: Visit<ScannedTask>,
): Promise<Scanned> {
  return scanSlices((end, most) => readSlice(database, narrowing, end, most), after, limits, visit)
}

interface Totals {
  read: number
  kept: number
  end: string | null
}

type ReadRow = (ScannedTask & Record<keyof Totals, null>) | (Totals & Record<keyof ScannedTask, null>)

/**
 * The texts of the slice are summed up row by row, as those of events are (scan-events.ts). Each task asks for its event by itself: with a plain join,
 * Postgres would read all executions of all workspaces for one slice as soon as it takes them for few.
 */
async function readSlice(
  database: UnscopedRows,
  { range, rest = Prisma.sql`true` }: Narrowing,
  after: string | undefined,
  most: number,
): Promise<Slice<ScannedTask>> {
  const isBelow = after === undefined ? Prisma.empty : Prisma.sql`AND tasks.id < ${after}::uuid`
  const [totals, ...rows] = await database.$queryRows<ReadRow>(Prisma.sql`
    WITH bounded AS (
      SELECT id, workspace_id, execution_id, title, description, created_at, (${rest}) IS TRUE AS is_read
      FROM tasks WHERE ${range} ${isBelow} ORDER BY tasks.id DESC LIMIT ${most}
    ),
    slice AS (
      SELECT bounded.*, event.data FROM bounded
      LEFT JOIN LATERAL (
        SELECT events.data FROM executions JOIN events ON events.id = executions.event_id AND events.workspace_id = executions.workspace_id
        WHERE is_read AND executions.id = bounded.execution_id AND executions.workspace_id = bounded.workspace_id LIMIT 1
      ) AS event ON true
    ),
    sums AS (
      SELECT id, sum(CASE WHEN is_read
                     THEN octet_length(title) + coalesce(octet_length(description), 0) + coalesce(octet_length(data::text), 0) ELSE 0 END)
        OVER (ORDER BY id DESC ROWS UNBOUNDED PRECEDING) AS bytes
      FROM slice
    ),
    filled AS MATERIALIZED (SELECT id FROM sums WHERE bytes >= ${maxSliceBytes} LIMIT 1),
    kept AS (
      SELECT *, row_number() OVER (ORDER BY id DESC) AS position
      FROM slice WHERE NOT EXISTS (SELECT FROM filled WHERE slice.id < filled.id)
    )
    SELECT NULL AS id, NULL AS "acceptedAt", NULL AS position, NULL AS json,
           (SELECT count(*) FROM bounded)::int AS read, count(*)::int AS kept,
           (SELECT id FROM kept ORDER BY id LIMIT 1) AS end
    FROM kept
    UNION ALL
    SELECT id, round(date_part('epoch', created_at) * 1000), position::int,
           json_build_object('title', title, 'description', description, 'data', data)::text, NULL, NULL, NULL
    FROM kept WHERE is_read
    ORDER BY id DESC NULLS FIRST`)
  const { read, kept, end } = totals as Totals
  return {
    rows: rows as ScannedTask[],
    scanned: kept,
    end: end ?? undefined,
    isLast: read < most && kept === read,
  }
}
