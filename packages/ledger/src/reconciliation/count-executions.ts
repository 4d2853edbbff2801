import { Prisma } from '@automation/database'
import { faultOf, type Inconsistency, type Slice, type Snapshot, withinSlice } from './slice.js'

/** Executions by progress: finished, waiting for their time, or leased by a worker. */
export interface ExecutionCounts {
  succeeded: number
  failed: number
  cancelled: number
  /** Finished without effects: perKey of the rule did not grant them. */
  suppressed: number
  /** Waiting for the end of a WAIT, or for the next attempt. */
  waiting: number
  /** A worker holds a lease, and renews it. */
  leased: number
  /** Included in `waiting` and `leased`: due for longer than half a minute. */
  overdue: number
  /** Included in the others: deliveries to subscriptions. */
  deliveriesSucceeded: number
  deliveriesFailed: number
  deliveriesCancelled: number
  deliveriesUnfinished: number
}

const isFinished = Prisma.sql`status IN ('succeeded', 'failed', 'cancelled', 'suppressed')`
const isAdrift = Prisma.sql`
  CASE WHEN ${isFinished} THEN finished_at IS NULL OR due_at IS NOT NULL ELSE finished_at IS NOT NULL OR due_at IS NULL END`

export async function countExecutions(snapshot: Snapshot, slice: Slice) {
  const [row] = await snapshot.$queryRaw<[ExecutionCounts & { faults: Inconsistency[] }]>(Prisma.sql`
    SELECT count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded,
           count(*) FILTER (WHERE status = 'failed')::int AS failed,
           count(*) FILTER (WHERE status = 'cancelled')::int AS cancelled,
           count(*) FILTER (WHERE status = 'suppressed')::int AS suppressed,
           count(*) FILTER (WHERE status IN ('waiting', 'retrying'))::int AS waiting,
           count(*) FILTER (WHERE status = 'running')::int AS leased,
           count(*) FILTER (WHERE parked IS NULL AND due_at < now() - interval '30 seconds')::int AS overdue,
           count(*) FILTER (WHERE is_delivery AND status = 'succeeded')::int AS "deliveriesSucceeded",
           count(*) FILTER (WHERE is_delivery AND status = 'failed')::int AS "deliveriesFailed",
           count(*) FILTER (WHERE is_delivery AND status = 'cancelled')::int AS "deliveriesCancelled",
           count(*) FILTER (WHERE is_delivery AND NOT ${isFinished})::int AS "deliveriesUnfinished",
           json_build_array(
             ${faultOf('execution_without_event', Prisma.sql`NOT has_event`)},
             ${faultOf('execution_too_early', Prisma.sql`has_event AND NOT is_event_done`)},
             ${faultOf('execution_twice', Prisma.sql`copy > 1`)},
             ${faultOf('wait_without_key', Prisma.sql`status = 'waiting' AND has_key <> is_awaiting`)},
             ${faultOf('execution_adrift', isAdrift)}) AS faults
    FROM (
      SELECT executions.id, executions.status, executions.is_delivery, executions.finished_at, executions.due_at, executions.parked,
             events.id IS NOT NULL AS has_event,
             executions.wait_key IS NOT NULL AS has_key,
             -- Only the journals of those that wait are read.
             CASE WHEN executions.status = 'waiting' THEN EXISTS (
               SELECT FROM json_array_elements(executions.results) AS result
               WHERE result->>'status' = 'scheduled' AND result->'waitsFor' IS NOT NULL) END AS is_awaiting,
             events.done_at IS NOT NULL AND NOT events.quarantined AS is_event_done,
             row_number() OVER (PARTITION BY executions.event_id, executions.handler_id ORDER BY executions.id) AS copy
      FROM executions
      LEFT JOIN events ON events.id = executions.event_id AND events.workspace_id = executions.workspace_id
      WHERE ${withinSlice(slice, Prisma.sql`executions.`)}
    ) AS listed`)
  return row
}
