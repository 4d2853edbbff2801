import { Prisma } from '@automation/database'
import { faultOf, type Inconsistency, type Slice, type Snapshot, withinSlice } from './slice.js'

/** Accepted webhooks, and the events that they became. */
export interface ReceiptCounts {
  accepted: number
  events: number
}

export async function countReceipts(snapshot: Snapshot, slice: Slice) {
  const [row] = await snapshot.$queryRaw<[ReceiptCounts & { faults: Inconsistency[] }]>(Prisma.sql`
    SELECT count(*)::int AS accepted, coalesce(sum(cardinality(event_ids)), 0)::int AS events,
           json_build_array(${faultOf('receipt_without_event', Prisma.sql`found < cardinality(event_ids)`)}) AS faults
    FROM (
      SELECT receipts.id, receipts.event_ids, (
        SELECT count(*) FROM events
        WHERE events.id = ANY (receipts.event_ids) AND events.workspace_id = receipts.workspace_id) AS found
      FROM webhook_receipts receipts
      WHERE ${withinSlice(slice, Prisma.sql`receipts.`)}
    ) AS listed`)
  return row
}
