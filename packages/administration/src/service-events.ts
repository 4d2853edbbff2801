import { newId, type WorkspaceTransaction } from '@automation/database'
import { Type } from 'typebox'

/** What the service tells of itself to those who have subscribed. A new one is one line here. */
export const ServiceEventType = Type.Enum([
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
])
export type ServiceEventType = Type.Static<typeof ServiceEventType>

/** Sent to one subscription that is tried out, whatever it has subscribed to. */
export const pingType = 'subscription.ping'

/** Those of the workspace alone. */
type Tables = Pick<WorkspaceTransaction, 'event' | 'rule' | 'subscription'>

/**
 * Tells an event to every active subscription that wants to hear of its type: a row of `events` for each, which is run
 * as soon as it is committed. So it belongs into the transaction of what it tells of.
 */
export async function publish(
  tables: Tables,
  event: { workspaceId: string; type: ServiceEventType; data: object },
): Promise<void> {
  await tellSubscriptions(tables, await findSubscribers(tables, event.type), event)
}

/** Publishes a change that the audit log tells of, where it is one that may be subscribed to. */
export async function publishChange(
  tables: Tables,
  change: {
    workspaceId: string
    actor: string
    action: string
    subject: string
    details?: object
    at: Date
  },
): Promise<void> {
  const { workspaceId, actor, action: type, subject, details, at } = change
  if (!isServiceEventType(type)) return
  const subscribers = await findSubscribers(tables, type)
  if (subscribers.length === 0) return
  const rule = await tables.rule.findUnique({ where: { id: subject }, select: { name: true } })
  // Of a rule that was deleted its entry knows the name.
  const data = { ruleId: subject, ...rule, ...details, actor, at: at.toISOString() }
  await tellSubscriptions(tables, subscribers, { workspaceId, type, data })
}

/** Writes the events that are to be told, one for each subscription. @returns their ids */
export async function tellSubscriptions(
  { event }: Pick<Tables, 'event'>,
  subscriptionIds: string[],
  { workspaceId, type, data }: { workspaceId: string; type: string; data: object },
): Promise<string[]> {
  const rows = subscriptionIds.map((ruleId) => ({
    id: newId(),
    workspaceId,
    type,
    data,
    ruleId,
    ruleIds: [],
  }))
  if (rows.length > 0) await event.createMany({ data: rows })
  return rows.map(({ id }) => id)
}

const known: ReadonlySet<string> = new Set(ServiceEventType.enum)

function isServiceEventType(type: string): type is ServiceEventType {
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
