import { newId, postgresNow, type WorkspaceTransaction } from '@automation/database'
import type { Addressee } from '../addressee.js'

const rowsAtOnce = 1_000

/** An event for one subscription. */
export interface DeliveryToAccept {
  subscriptionId: string
  type: string
  data: object
}

/** An event that was accepted for one subscription. A worker delivers it as soon as its job is in the queue. */
export interface Delivery {
  id: string
  workspaceId: string
  /** The subscription. */
  addressee: Addressee
}

/**
 * Accepts events for subscriptions, in the transaction of what they report. After its commit the caller should add a job for each;
 * the sweeper adds those that are missing.
 */
export async function acceptDeliveries(
  { event }: Pick<WorkspaceTransaction, 'event'>,
  workspaceId: string,
  deliveries: DeliveryToAccept[],
): Promise<Delivery[]> {
  const rows = deliveries.map(({ subscriptionId, type, data }) => ({
    id: newId(),
    workspaceId,
    type,
    data,
    addresseeKind: 'subscription' as const,
    addresseeId: subscriptionId,
    acceptedAt: new Date(postgresNow()),
  }))
  // An import of 1,000 rules may have 20 subscriptions.
  for (let start = 0; start < rows.length; start += rowsAtOnce)
    await event.createMany({ data: rows.slice(start, start + rowsAtOnce) })
  return rows.map(({ id, addresseeId }) => ({
    id,
    workspaceId,
    addressee: { kind: 'subscription', id: addresseeId },
  }))
}
