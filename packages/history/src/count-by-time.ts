import { Prisma, type UnscopedSql } from '@automation/database'
import type { ExecutionStatus, Narrowing } from '@automation/ledger'
import { type EventState, narrowEvents } from './list-events.js'
import { narrowExecutions } from './list-executions.js'

/** So many rows of each table are counted at most, the newest first: the count takes bounded time, however long the history is. */
export const maxCountedByTime = 50_000

export interface TimeSlices {
  /** epoch ms, inclusive */
  from: number
  /** epoch ms, exclusive */
  to: number
  /** The number of slices of equal length. */
  slices: number
}

/** Rows of one slice of time. */
export interface SliceCount<Kind extends string> {
  /** Its index, from 0. */
  slice: number
  kind: Kind
  count: number
}

export interface CountsByTime {
  events: SliceCount<'accepted' | 'unprocessed'>[]
  executions: SliceCount<ExecutionStatus>[]
  /** When the oldest event was accepted whose rules have not run. epoch ms; undefined: there is none */
  oldestUnprocessed: number | undefined
  durations: Durations
  /** Everything since then is counted: `from`, or later where there are too many rows. epoch ms */
  countedFrom: number
}

/** The 95th percentile of what executions took. ms; undefined: none of them counts */
export interface Durations {
  all: number | undefined
  bySlice: Map<number, number>
}

/** An execution that took longer has waited, for a time, an event, or somebody who retried it: its duration says nothing of the service. */
export const longestCountedMs = 600_000

/** The filters of the two lists, so that a chart above a list counts what the list has. */
export interface CountedFilter {
  ruleId?: string
  eventType?: string
  /** Of events. */
  eventStatus?: EventState
  /** Text that the error of an execution contains. */
  error?: string
}

/**
 * Counts events and executions by the time of their events, which their ids carry: so the index of workspace and id leads to
 * them. Deliveries to subscriptions are left out, as in the lists.
 */
export async function countByTime(
  database: UnscopedSql,
  workspaceId: string,
  range: TimeSlices,
  { ruleId, eventType, eventStatus, error }: CountedFilter = {},
): Promise<CountsByTime> {
  const shared = { ...periodOf(range), ...(ruleId !== undefined && { ruleId }) }
  const [events, executions] = await Promise.all([
    countRows<'accepted' | 'unprocessed'>(database, range, {
      table: Prisma.sql`events`,
      kind: Prisma.sql`CASE WHEN done_at IS NULL THEN 'unprocessed' ELSE 'accepted' END`,
      tookMs: Prisma.sql`NULL::float8`,
      narrowing: narrowEvents(workspaceId, {
        ...shared,
        ...(eventType !== undefined && { type: eventType }),
        ...(eventStatus !== undefined && { status: eventStatus }),
      }),
    }),
    countRows<ExecutionStatus>(database, range, {
      table: Prisma.sql`executions`,
      kind: Prisma.sql`status::text`,
      tookMs: Prisma.sql`extract(epoch FROM finished_at - started_at)::float8 * 1000`,
      narrowing: narrowExecutions(workspaceId, {
        ...shared,
        ...(eventType !== undefined && { eventType }),
        ...(error !== undefined && { error }),
      }),
    }),
  ])
  const countedFrom = Math.max(events.countedFrom, executions.countedFrom)
  return {
    events: events.counts,
    executions: executions.counts,
    oldestUnprocessed: events.oldest.get('unprocessed'),
    durations: executions.durations,
    countedFrom,
  }
}

/** A count, or where `kind` is null a percentile: of a slice, or of all. */
interface CountedRow extends Oldest {
  slice: number | null
  kind: string | null
  count: number
  total: number
  /** Of those that fit. epoch ms */
  first: bigint | null
  p95: number | null
}

interface Counted<Kind extends string> {
  counts: SliceCount<Kind>[]
  /** The time of the oldest that was counted. epoch ms */
  oldest: Map<Kind, number>
  durations: Durations
  countedFrom: number
}

async function countRows<Kind extends string>(
  database: UnscopedSql,
  range: TimeSlices,
  {
    table,
    kind,
    tookMs,
    narrowing,
  }: { table: Prisma.Sql; kind: Prisma.Sql; tookMs: Prisma.Sql; narrowing: Narrowing },
): Promise<Counted<Kind>> {
  // What an index cannot answer is asked of the rows that are counted, and of no more.
  const fits = narrowing.rest ?? Prisma.sql`TRUE`
  const columns = Prisma.sql`${kind} AS kind, ${tookMs} AS took, ${fits} AS fits`
  const rows = await database.$queryRaw<CountedRow[]>(Prisma.sql`
    WITH newest AS MATERIALIZED (${newestRows(range, { table, columns, condition: narrowing.range })})
    SELECT slice, kind, (count(*) FILTER (WHERE fits))::int AS count, count(*)::int AS total, min(time) AS oldest,
           min(time) FILTER (WHERE fits) AS first, NULL::float8 AS p95
    FROM newest GROUP BY slice, kind
    UNION ALL
    SELECT slice, NULL, 0, 0, NULL, NULL, percentile_disc(0.95) WITHIN GROUP (ORDER BY took)
    FROM newest WHERE fits AND took <= ${longestCountedMs} GROUP BY GROUPING SETS ((slice), ())`)
  const counted = rows.filter((row) => row.kind !== null)
  const total = counted.reduce((sum, row) => sum + row.total, 0)
  const oldest = new Map<Kind, number>()
  for (const { kind, first } of counted)
    if (first !== null)
      oldest.set(kind as Kind, Math.min(Number(first), oldest.get(kind as Kind) ?? Number.POSITIVE_INFINITY))
  return {
    counts: counted.flatMap(({ slice, kind, count }) =>
      count === 0 ? [] : [{ slice: slice ?? 0, kind: kind as Kind, count }],
    ),
    oldest,
    durations: readDurations(rows),
    countedFrom: findCountedFrom(range, total, counted),
  }
}

function readDurations(rows: CountedRow[]): Durations {
  const bySlice = new Map<number, number>()
  let all: number | undefined
  for (const { slice, kind, p95 } of rows) {
    if (kind !== null || p95 === null) continue
    if (slice === null) all = p95
    else bySlice.set(slice, p95)
  }
  return { all, bySlice }
}

/** The executions of one rule by time. */
export interface RuleCounts {
  ruleId: string
  /** Those that are not empty: the index of the slice from 0, the executions in it, and how many of them failed. */
  slices: [slice: number, runs: number, failed: number][]
}

/**
 * Counts executions by rule, and by the time of their events. Those of rules that were deleted belong to nobody. One value for all rules:
 * there may be a thousand, with a row for each slice.
 */
export async function countByRule(
  database: UnscopedSql,
  workspaceId: string,
  range: TimeSlices,
): Promise<{ rules: RuleCounts[]; countedFrom: number }> {
  const executions = {
    table: Prisma.sql`executions`,
    columns: Prisma.sql`handler_id, status`,
    condition: narrowExecutions(workspaceId, periodOf(range)).range,
  }
  type Row = Oldest & { total: number; rules: string }
  const [row] = await database.$queryRaw<Row[]>(Prisma.sql`
    WITH newest AS (${newestRows(range, executions)}),
    counted_slices AS (
      SELECT handler_id, slice, count(*) AS runs, count(*) FILTER (WHERE status = 'failed') AS failed
      FROM newest GROUP BY 1, 2
    ),
    counted_rules AS (
      SELECT rules.id AS "ruleId", json_agg(json_build_array(slice, runs, failed)) AS slices
      FROM counted_slices
      JOIN rules ON rules.workspace_id = ${workspaceId}::uuid AND rules.id = counted_slices.handler_id
      GROUP BY 1
    )
    SELECT (SELECT count(*)::int FROM newest) AS total, (SELECT min(time) FROM newest) AS oldest,
           (SELECT coalesce(json_agg(counted_rules), '[]')::text FROM counted_rules) AS rules`)
  return {
    rules: JSON.parse(row?.rules ?? '[]') as RuleCounts[],
    countedFrom: row === undefined ? range.from : findCountedFrom(range, row.total, [row]),
  }
}

/** The time (epoch ms) of an id, as timeOf reads it. */
const timeOfId = Prisma.sql`('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint`

/** The newest rows of a range, each with its time and its slice. */
function newestRows(
  { from, to, slices }: TimeSlices,
  { table, columns, condition }: { table: Prisma.Sql; columns: Prisma.Sql; condition: Prisma.Sql },
): Prisma.Sql {
  const sliceMs = (to - from) / slices
  return Prisma.sql`
    SELECT bounded.*, least(greatest(floor((time - ${from}) / ${sliceMs}::float8), 0), ${slices - 1})::int AS slice
    FROM (
      SELECT ${columns}, ${timeOfId} AS time
      FROM ${table}
      WHERE ${condition}
      ORDER BY ${table}.id DESC LIMIT ${maxCountedByTime}
    ) AS bounded`
}

function periodOf({ from, to }: TimeSlices): { from: Date; to: Date } {
  return { from: new Date(from), to: new Date(to) }
}

interface Oldest {
  /** epoch ms */
  oldest: bigint
}

function findCountedFrom({ from }: TimeSlices, total: number, rows: Oldest[]): number {
  return total < maxCountedByTime ? from : Math.min(...rows.map(({ oldest }) => Number(oldest)))
}
