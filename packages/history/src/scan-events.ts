import { clockSkewMs, highestId, idNear, lowestId, Prisma, type UnscopedRows } from '@automation/database'

/** Stored events of one workspace, in the order of their ids. Deliveries to subscriptions are none of them. */
export interface ScanRange {
  workspaceId: string
  order: 'newest first' | 'oldest first'
  /** Only events of this type, or of these, are read; the others of the range are passed. */
  type?: string | string[]
  /** Accepted from then on. */
  from?: Date
  /** Accepted before then. */
  to?: Date
}

export interface ScannedEvent {
  id: string
  type: string
  /** Epoch ms: the moment of evaluation. */
  acceptedAt: number
  /** The rule that it is addressed to; null: all active rules of its type. */
  addressedTo: string | null
  /** Whether a schedule made it. */
  isTick: boolean
  /** As in the table: which rules were considered, and in which versions. */
  ruleSetId: string | null
  rulesVersion: number | null
  /** Of a replay, the rules that a person has chosen; null: all. */
  chosenRuleIds: string[] | null
  /** Whether a value of its data was erased. */
  isErased: boolean
  /** Its place among the events of the slice that are in the range, from 1, those of other types counted. */
  position: number
  /** JSON of its data, not parsed. */
  json: string
}

/** What one scan may take; it ends with the slice that exceeds one of them. */
export interface ScanLimits {
  events: number
  ms: number
}

export interface Scanned {
  /** How many events of the range were passed, those of other types included. */
  scanned: number
  /** The id after which the scan continues; undefined where the range is over. */
  end: string | undefined
}

/** Looks at the rows of a slice. @returns where it wants no more: the id of the last one that it used; null for none of them */
export type Visit<Row> = (rows: Row[]) => Promise<string | null | undefined>

const maxSliceRows = 1_000
/** Of JSON, or of one row: to parse so much takes about 10 ms. */
export const maxSliceBytes = 1_048_576

/** Passes over stored events; see scanSlices. */
export function scanEvents(
  /** Of the tenant's reads. */
  database: UnscopedRows,
  range: ScanRange,
  /** The `end` of the scan before. */
  after: string | undefined,
  limits: ScanLimits,
  visit: Visit<ScannedEvent>,
): Promise<Scanned> {
  return scanSlices((end, most) => readSlice(database, range, end, most), after, limits, visit)
}

/**
 * Passes over stored rows in slices: bounded rows and bytes in each statement, in turns with the other queries of the workspace, and nothing
 * between two slices that is lost with the process. Continued after `end`, a scan sees the same rows as in one go; new ones have higher ids.
 *
 * @param after the `end` of the scan before
 */
export async function scanSlices<Row extends SliceRow>(
  read: (after: string | undefined, most: number) => Promise<Slice<Row>>,
  after: string | undefined,
  limits: ScanLimits,
  visit: Visit<Row>,
): Promise<Scanned> {
  const startedAt = performance.now()
  let scanned = 0
  let end = after
  for (;;) {
    const slice = await read(end, Math.min(maxSliceRows, limits.events - scanned))
    const last = slice.rows.length === 0 ? undefined : await visit(slice.rows)
    if (last === null) return { scanned, end }
    if (last !== undefined) {
      const position = slice.rows.find(({ id }) => id === last)?.position ?? slice.scanned
      return { scanned: scanned + position, end: last }
    }
    scanned += slice.scanned
    if (slice.isLast) return { scanned, end: undefined }
    end = slice.end
    if (scanned >= limits.events || performance.now() - startedAt > limits.ms) return { scanned, end }
  }
}

interface SliceRow {
  id: string
  /** Its place among the rows of the slice that are in the range, from 1. */
  position: number
}

export interface Slice<Row> {
  rows: Row[]
  scanned: number
  end: string | undefined
  isLast: boolean
}

/** What a statement has passed: its first row. */
interface Totals {
  read: number
  kept: number
  scanned: number
  /** null where there was no event. */
  end: string | null
}

type ReadRow = (ScannedEvent & Record<keyof Totals, null>) | (Totals & Record<keyof ScannedEvent, null>)

/**
 * Sizes are summed up row by row, and the sum ends at the row that fills the slice: `filled` takes one row of a window whose frame grows, so Postgres
 * decompresses at most the slice and one event. The stored size says too little: a compressed event may be a hundred times larger. Of other types
 * no data is read.
 *
 * Only the id bounds the rows of a statement. Time of acceptance, type and addressee are flags: as conditions, they would let one statement pass
 * the events of an hour until it finds one of the range.
 */
async function readSlice(
  database: UnscopedRows,
  range: ScanRange,
  after: string | undefined,
  most: number,
): Promise<Slice<ScannedEvent>> {
  const isNewestFirst = range.order === 'newest first'
  const direction = isNewestFirst ? Prisma.sql`DESC` : Prisma.sql`ASC`
  const beyond = isNewestFirst ? Prisma.sql`<` : Prisma.sql`>`
  const isOfType =
    range.type === undefined ? Prisma.sql`true` : Prisma.sql`type = ANY (${[range.type].flat()})`
  const [totals, ...rows] = await database.$queryRows<ReadRow>(Prisma.sql`
    WITH bounded AS (
      SELECT id, type, accepted_at, addressee_kind, addressee_id, rule_set_id, rules_version, chosen_rule_ids, erased_at, data, ${isWithin(range)} AS is_within
      FROM events WHERE ${boundsOf(range, after)} ORDER BY id ${direction} LIMIT ${most}
    ),
    slice AS (SELECT *, is_within AND ${isOfType} AS is_read FROM bounded),
    sums AS (
      SELECT id, sum(CASE WHEN is_read THEN octet_length(data::text) ELSE 0 END)
        OVER (ORDER BY id ${direction} ROWS UNBOUNDED PRECEDING) AS bytes
      FROM slice
    ),
    filled AS MATERIALIZED (SELECT id FROM sums WHERE bytes >= ${maxSliceBytes} LIMIT 1),
    kept AS (
      SELECT id, type, accepted_at, addressee_kind, addressee_id, rule_set_id, rules_version, chosen_rule_ids, erased_at, data, is_within, is_read,
             count(*) FILTER (WHERE is_within) OVER (ORDER BY id ${direction} ROWS UNBOUNDED PRECEDING) AS position
      FROM slice WHERE NOT EXISTS (SELECT FROM filled WHERE slice.id ${beyond} filled.id)
    )
    SELECT NULL AS id, NULL AS type, NULL AS "acceptedAt", NULL AS "addressedTo", NULL AS "isTick", NULL AS "ruleSetId",
           NULL AS "rulesVersion", NULL AS "chosenRuleIds", NULL AS "isErased", NULL AS position, NULL AS json,
           (SELECT count(*) FROM slice)::int AS read, count(*)::int AS kept, (count(*) FILTER (WHERE is_within))::int AS scanned,
           (SELECT id FROM kept ORDER BY id ${isNewestFirst ? Prisma.sql`ASC` : Prisma.sql`DESC`} LIMIT 1) AS end
    FROM kept
    UNION ALL
    SELECT id, type, round(date_part('epoch', accepted_at) * 1000), addressee_id, addressee_kind IS NOT DISTINCT FROM 'tick', rule_set_id,
           rules_version, chosen_rule_ids, erased_at IS NOT NULL, position::int, data::text, NULL, NULL, NULL, NULL
    FROM kept WHERE is_read
    ORDER BY id ${direction} NULLS FIRST`)
  const { read, kept, scanned, end } = totals as Totals
  return {
    rows: rows as ScannedEvent[],
    scanned,
    end: end ?? undefined,
    isLast: read < most && kept === read,
  }
}

/** An id has the time of the process that accepted its event, and `accepted_at` that of Postgres. */
function boundsOf({ workspaceId, order, from, to }: ScanRange, after: string | undefined): Prisma.Sql {
  const low = from === undefined ? lowestId : idNear(from, -clockSkewMs)
  const high = to === undefined ? highestId : idNear(to, clockSkewMs)
  const beyond = order === 'newest first' ? Prisma.sql`<` : Prisma.sql`>`
  const isBeyond = after === undefined ? Prisma.empty : Prisma.sql`AND id ${beyond} ${after}::uuid`
  return Prisma.sql`
    workspace_id = ${workspaceId}::uuid AND id >= ${low}::uuid AND id <= ${high}::uuid ${isBeyond}`
}

function isWithin({ from, to }: ScanRange): Prisma.Sql {
  return Prisma.join(
    [
      Prisma.sql`events.addressee_kind IS DISTINCT FROM 'subscription'`,
      ...(from === undefined ? [] : [Prisma.sql`accepted_at >= ${from}`]),
      ...(to === undefined ? [] : [Prisma.sql`accepted_at < ${to}`]),
    ],
    ' AND ',
  )
}
