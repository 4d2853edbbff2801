import { Prisma, type UnscopedSql } from '@automation/database'
import type { ExecutionStatus } from '../statuses.js'
import { type EventState, narrowEvents } from './list-events.js'
import { narrowExecutions } from './list-executions.js'
import type { Narrowing } from './narrowing.js'

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
  events: SliceCount<'accepted'>[]
  executions: SliceCount<ExecutionStatus>[]
  /** Everything since then is counted: `from`, or later where there are too many rows. epoch ms */
  countedFrom: number
}

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
    countRows<'accepted'>(database, range, {
      table: Prisma.sql`events`,
      kind: Prisma.sql`'accepted'`,
      narrowing: narrowEvents(workspaceId, {
        ...shared,
        ...(eventType !== undefined && { type: eventType }),
        ...(eventStatus !== undefined && { status: eventStatus }),
      }),
    }),
    countRows<ExecutionStatus>(database, range, {
      table: Prisma.sql`executions`,
      kind: Prisma.sql`status::text`,
      narrowing: narrowExecutions(workspaceId, {
        ...shared,
        ...(eventType !== undefined && { eventType }),
        ...(error !== undefined && { error }),
      }),
    }),
  ])
  const countedFrom = Math.max(events.countedFrom, executions.countedFrom)
  return { events: events.counts, executions: executions.counts, countedFrom }
}

async function countRows<Kind extends string>(
  database: UnscopedSql,
  range: TimeSlices,
  { table, kind, narrowing }: { table: Prisma.Sql; kind: Prisma.Sql; narrowing: Narrowing },
): Promise<{ counts: SliceCount<Kind>[]; countedFrom: number }> {
  // What an index cannot answer is asked of the rows that are counted, and of no more.
  const columns = Prisma.sql`${kind} AS kind, ${narrowing.rest ?? Prisma.sql`TRUE`} AS fits`
  const rows = await database.$queryRaw<(SliceCount<Kind> & Oldest & { total: number })[]>(Prisma.sql`
    SELECT slice, kind, (count(*) FILTER (WHERE fits))::int AS count, count(*)::int AS total, min(time) AS oldest
    FROM (${newestRows(range, { table, columns, condition: narrowing.range })}) AS newest
    GROUP BY 1, 2`)
  const total = rows.reduce((sum, row) => sum + row.total, 0)
  return {
    counts: rows.flatMap(({ slice, kind, count }) => (count === 0 ? [] : [{ slice, kind, count }])),
    countedFrom: findCountedFrom(range, total, rows),
  }
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
    columns: Prisma.sql`rule_id, status`,
    condition: narrowExecutions(workspaceId, periodOf(range)).range,
  }
  type Row = Oldest & { total: number; rules: string }
  const [row] = await database.$queryRaw<Row[]>(Prisma.sql`
    WITH newest AS (${newestRows(range, executions)}),
    counted_slices AS (
      SELECT rule_id, slice, count(*) AS runs, count(*) FILTER (WHERE status = 'failed') AS failed
      FROM newest GROUP BY 1, 2
    ),
    counted_rules AS (
      SELECT rules.id AS "ruleId", json_agg(json_build_array(slice, runs, failed)) AS slices
      FROM counted_slices
      JOIN rules ON rules.workspace_id = ${workspaceId}::uuid AND rules.id = counted_slices.rule_id
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
