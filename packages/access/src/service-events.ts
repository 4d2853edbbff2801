import type { WorkspaceTransaction } from '@automation/database'
import { acceptDeliveries, type Delivery } from '@automation/ledger'
import { Type } from 'typebox'

/** The types of events that the service sends to subscriptions. A new one needs one line here. */
export const ServiceEventType = Type.Enum(
  [
    'rule.created',
    'rule.updated',
    'rule.deleted',
    'rule.activated',
    'rule.deactivated',
    'rule.cloned',
    'rule.restored',
    'rule.paused',
    'rule.promoted',
    'rule.rolled_back',
    'rule.silent',
    'rule.heard',
    'execution.failed',
    'receipt.rejected',
  ],
  { title: 'ServiceEventType' },
)
export type ServiceEventType = Type.Static<typeof ServiceEventType>

/** Sent to one subscription to test it, even if it has subscribed to other types. */
export const pingType = 'subscription.ping'

/** An event that was accepted for one subscription. */
export type ServiceEvent = Delivery

/** Scoped to one workspace. */
type Tables = Pick<WorkspaceTransaction, 'event' | 'rule' | 'subscription'>

/**
 * Publishes an event to every active subscription to its type, as a row of `events` for each. Call it in the transaction of the
 * change that it reports. After the commit, the caller should add a job for each of the returned events; the sweeper adds the
 * missing ones.
 */
export async function publish(
  tables: Tables,
  event: { workspaceId: string; type: ServiceEventType; data: object },
): Promise<ServiceEvent[]> {
  return deliverTo(tables, await findSubscribers(tables, event.type), event)
}

/** Publishes those entries of the audit log whose action is a type of ServiceEventType. */
export async function publishChanges(
  tables: Tables,
  { workspaceId, actor, at }: { workspaceId: string; actor: string; at: Date },
  entries: { action: string; subject: string; details?: object }[],
): Promise<ServiceEvent[]> {
  const publishable = entries.filter(({ action }) => isServiceEventType(action))
  if (publishable.length === 0) return []
  const types = [...new Set(publishable.map(({ action }) => action))]
  const subscribers = await tables.subscription.findMany({
    where: { isActive: true, eventTypes: { hasSome: types } },
    select: { id: true, eventTypes: true },
  })
  if (subscribers.length === 0) return []
  const names = await findRuleNames(tables, publishable)
  const events = publishable.flatMap(({ action: type, subject: ruleId, details }) => {
    // The entry of a deleted rule contains its name.
    const data = { ruleId, ...names.get(ruleId), ...details, actor, at: at.toISOString() }
    return subscribers
      .filter(({ eventTypes }) => eventTypes.includes(type))
      .map(({ id }) => ({ subscriptionId: id, type, data }))
  })
  return acceptDeliveries(tables, workspaceId, events)
}

/** Writes an event for each of these subscriptions. */
export function deliverTo(
  tables: Pick<Tables, 'event'>,
  subscriptionIds: string[],
  { workspaceId, type, data }: { workspaceId: string; type: string; data: object },
): Promise<ServiceEvent[]> {
  const events = subscriptionIds.map((subscriptionId) => ({ subscriptionId, type, data }))
  return acceptDeliveries(tables, workspaceId, events)
}

const serviceEventTypes: ReadonlySet<string> = new Set(ServiceEventType.enum)

function isServiceEventType(type: string): boolean {
  return serviceEventTypes.has(type)
}

/** A workspace has few subscriptions, and there is an index. */
async function findSubscribers({ subscription }: Tables, type: ServiceEventType): Promise<string[]> {
  const subscribers = await subscription.findMany({
    where: { isActive: true, eventTypes: { has: type } },
    select: { id: true },
  })
  return subscribers.map(({ id }) => id)
}

async function findRuleNames(
  { rule }: Tables,
  entries: { subject: string }[],
): Promise<Map<string, { name: string }>> {
  const rows = await rule.findMany({
    where: { id: { in: entries.map(({ subject }) => subject) } },
    select: { id: true, name: true },
  })
  return new Map(rows.map(({ id, name }) => [id, { name }]))
}
