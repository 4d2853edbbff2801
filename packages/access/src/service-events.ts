import type { WorkspaceTransaction } from '@automation/database'
import { acceptDeliveries, type Delivery } from '@automation/ledger'
import { Type } from 'typebox'

/** What the service tells of itself to those who have subscribed. A new one is one line here. */
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
    'execution.failed',
    'receipt.rejected',
  ],
  { title: 'ServiceEventType' },
)
export type ServiceEventType = Type.Static<typeof ServiceEventType>

/** Sent to one subscription that is tried out, whatever it has subscribed to. */
export const pingType = 'subscription.ping'

/** An event that was accepted for one subscription. */
export type ServiceEvent = Delivery

/** Those of the workspace alone. */
type Tables = Pick<WorkspaceTransaction, 'event' | 'rule' | 'subscription'>

/**
 * Tells an event to every active subscription that wants to hear of its type: a row of `events` for each. So it belongs into the
 * transaction of what it tells of. After the commit its caller should add a job for each of the returned events; the sweeper
 * adds those that nobody did.
 */
export async function publish(
  tables: Tables,
  event: { workspaceId: string; type: ServiceEventType; data: object },
): Promise<ServiceEvent[]> {
  return tellSubscriptions(tables, await findSubscribers(tables, event.type), event)
}

/** Publishes changes that the audit log tells of, those that may be subscribed to. */
export async function publishChanges(
  tables: Tables,
  { workspaceId, actor, at }: { workspaceId: string; actor: string; at: Date },
  entries: { action: string; subject: string; details?: object }[],
): Promise<ServiceEvent[]> {
  const told = entries.filter(({ action }) => isServiceEventType(action))
  if (told.length === 0) return []
  const subscribers = await tables.subscription.findMany({
    where: { isActive: true, eventTypes: { hasSome: [...new Set(told.map(({ action }) => action))] } },
    select: { id: true, eventTypes: true },
  })
  if (subscribers.length === 0) return []
  const names = await findRuleNames(tables, told)
  const events = told.flatMap(({ action: type, subject: ruleId, details }) => {
    // Of a rule that was deleted its entry knows the name.
    const data = { ruleId, ...names.get(ruleId), ...details, actor, at: at.toISOString() }
    return subscribers
      .filter(({ eventTypes }) => eventTypes.includes(type))
      .map(({ id }) => ({ subscriptionId: id, type, data }))
  })
  return acceptDeliveries(tables, workspaceId, events)
}

/** Writes the events that are to be told, one for each subscription. */
export function tellSubscriptions(
  tables: Pick<Tables, 'event'>,
  subscriptionIds: string[],
  { workspaceId, type, data }: { workspaceId: string; type: string; data: object },
): Promise<ServiceEvent[]> {
  const events = subscriptionIds.map((subscriptionId) => ({ subscriptionId, type, data }))
  return acceptDeliveries(tables, workspaceId, events)
}

const known: ReadonlySet<string> = new Set(ServiceEventType.enum)

function isServiceEventType(type: string): boolean {
  return known.has(type)
}

/** A workspace has few subscriptions, and an index leads to them. */
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
