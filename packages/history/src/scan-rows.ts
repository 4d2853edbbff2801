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

export interface ScannedRow {
  id: string
  /** Epoch ms. */
  acceptedAt: number
  /** Its place among the rows of the slice, from 1. */
  position: number
  /** What is looked at, not parsed. */
  json: string
}

/** What is read of a table: columns of `slice`, in SQL. */
export interface RowsToScan {
  table: Prisma.Sql
  /** Selects all columns of `bounded`, with others that are joined where `is_read`. */
  slice: Prisma.Sql
  acceptedAt: Prisma.Sql
  /** How many bytes are looked at. */
  bytes: Prisma.Sql
  json: Prisma.Sql
}

/** Passes over rows, the newest first; see scanSlices. A row that the narrowing leaves out is passed unread. */
export function scanRows(
  /** Of the tenant's reads. */
  database: UnscopedRows,
  rows: RowsToScan,
  narrowing: Narrowing,
  /** The `end` of the scan before. */
  after: string | undefined,
  limits: ScanLimits,
  visit: Visit<ScannedRow>,
): Promise<Scanned> {
  return scanSlices((end, most) => readSlice(database, rows, narrowing, end, most), after, limits, visit)
}

interface Totals {
  read: number
  kept: number
  end: string | null
}

type ReadRow = (ScannedRow & Record<keyof Totals, null>) | (Totals & Record<keyof ScannedRow, null>)

/** The bytes of the slice are summed up row by row, as those of events are (scan-events.ts). */
async function readSlice(
  database: UnscopedRows,
  { table, slice, acceptedAt, bytes, json }: RowsToScan,
  { range, rest = Prisma.sql`true` }: Narrowing,
  after: string | undefined,
  most: number,
): Promise<Slice<ScannedRow>> {
  const isBelow = after === undefined ? Prisma.empty : Prisma.sql`AND ${table}.id < ${after}::uuid`
  const [totals, ...rows] = await database.$queryRows<ReadRow>(Prisma.sql`
    WITH bounded AS (
      SELECT ${table}.*, (${rest}) IS TRUE AS is_read
      FROM ${table} WHERE ${range} ${isBelow} ORDER BY ${table}.id DESC LIMIT ${most}
    ),
    slice AS (${slice}),
    sums AS (
      SELECT id, sum(CASE WHEN is_read THEN ${bytes} ELSE 0 END)
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
    SELECT id, round(date_part('epoch', ${acceptedAt}) * 1000), position::int, ${json}, NULL, NULL, NULL
    FROM kept WHERE is_read
    ORDER BY id DESC NULLS FIRST`)
  const { read, kept, end } = totals as Totals
  return {
    rows: rows as ScannedRow[],
    scanned: kept,
    end: end ?? undefined,
    isLast: read < most && kept === read,
  }
}
