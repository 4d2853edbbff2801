import { Prisma } from '@automation/database'
import { faultOf, type Inconsistency, type Slice, type Snapshot, withinSlice } from './slice.js'

/** Events by source, and by progress. Each of the two sums is the number of accepted events. */
export interface EventCounts {
  fromOutside: number
  replayed: number
  emitted: number
  /** Events of the service itself: deliveries to subscriptions. */
  service: number
  done: number
  /** Included in `done`. */
  quarantined: number
  waiting: number
  /** Included in `waiting`: for longer than half a minute. */
  overdue: number
}

export async function countEvents(snapshot: Snapshot, slice: Slice) {
  const [row] = await snapshot.$queryRaw<[EventCounts & { faults: Inconsistency[] }]>(Prisma.sql`
    SELECT count(*) FILTER (WHERE is_service)::int AS service,
           count(*) FILTER (WHERE caused_by IS NOT NULL)::int AS emitted,
           count(*) FILTER (WHERE replay_of IS NOT NULL)::int AS replayed,
           count(*) FILTER (WHERE NOT is_service AND caused_by IS NULL AND replay_of IS NULL)::int AS "fromOutside",
           count(done_at)::int AS done,
           count(*) FILTER (WHERE quarantined)::int AS quarantined,
           count(*) FILTER (WHERE done_at IS NULL)::int AS waiting,
           count(*) FILTER (WHERE done_at IS NULL AND parked IS NULL AND coalesce(unparked_at, accepted_at) < now() - interval '30 seconds')::int AS overdue,
           json_build_array(
             ${faultOf('quarantined_not_done', Prisma.sql`quarantined AND done_at IS NULL`)},
             ${faultOf('event_without_cause', Prisma.sql`is_orphan`)}) AS faults
    FROM (
      SELECT id, done_at, accepted_at, parked, unparked_at, quarantined, caused_by, replay_of, addressee_kind IS NOT DISTINCT FROM 'subscription' AS is_service,
             caused_by >= ${slice.keptSince}::uuid AND NOT EXISTS (
               SELECT FROM executions cause
               WHERE cause.id = events.caused_by AND cause.workspace_id = events.workspace_id) AS is_orphan
      FROM events
      WHERE ${withinSlice(slice)}
    ) AS listed`)
  return row
}
