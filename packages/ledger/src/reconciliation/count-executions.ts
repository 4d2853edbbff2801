import { Prisma } from '@automation/database'
import { type Fault, faultOf, type Slice, type Snapshot, withinSlice } from './slice.js'

/** Executions by how far they are: either finished, or waiting for their time, or in a worker's hands. */
export interface ExecutionCounts {
  succeeded: number
  failed: number
  cancelled: number
  /** For the end of a WAIT, or for the next attempt. */
  waiting: number
  /** A worker has it, and has given a sign of life. */
  leased: number
  /** Of those that are not finished: due for longer than half a minute. */
  overdue: number
}

const isFinished = Prisma.sql`status IN ('succeeded', 'failed', 'cancelled')`
const isAdrift = Prisma.sql`
  CASE WHEN ${isFinished} THEN finished_at IS NULL OR due_at IS NOT NULL ELSE finished_at IS NOT NULL OR due_at IS NULL END`

export async function countExecutions(snapshot: Snapshot, slice: Slice) {
  const [row] = await snapshot.$queryRaw<[ExecutionCounts & { faults: Fault[] }]>(Prisma.sql`
    SELECT count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded,
           count(*) FILTER (WHERE status = 'failed')::int AS failed,
           count(*) FILTER (WHERE status = 'cancelled')::int AS cancelled,
           count(*) FILTER (WHERE status IN ('waiting', 'retrying'))::int AS waiting,
           count(*) FILTER (WHERE status = 'running')::int AS leased,
           count(*) FILTER (WHERE due_at < now() - interval '30 seconds')::int AS overdue,
           json_build_array(
             ${faultOf('execution_without_event', Prisma.sql`NOT has_event`)},
             ${faultOf('execution_too_early', Prisma.sql`has_event AND NOT is_event_done`)},
             ${faultOf('execution_twice', Prisma.sql`copy > 1`)},
             ${faultOf('execution_adrift', isAdrift)}) AS faults
    FROM (
      SELECT runs.id, runs.status, runs.finished_at, runs.due_at,
             events.id IS NOT NULL AS has_event,
             events.done_at IS NOT NULL AND NOT events.quarantined AS is_event_done,
             row_number() OVER (PARTITION BY runs.event_id, runs.rule_id ORDER BY runs.id) AS copy
      FROM executions runs
      LEFT JOIN events ON events.id = runs.event_id AND events.workspace_id = runs.workspace_id
      WHERE ${withinSlice(slice, Prisma.sql`runs.`)}
    ) AS listed`)
  return row
}
