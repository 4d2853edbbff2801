import { Prisma } from '@automation/database'

/** The one that an event is for: the rule that is executed by hand, or the subscription that it is delivered to. */
export interface Addressee {
  kind: 'rule' | 'subscription'
  id: string
}

/** The columns of an event that say who it is for. */
export interface AddressColumns {
  type: string
  ruleId: string | null
  subscriptionId: string | null
}

/** Who a stored event is for; null: all active rules of its type. */
export function addresseeOf(event: AddressColumns): Addressee | null {
  const subscriptionId = event.subscriptionId ?? olderSubscriptionOf(event)
  if (subscriptionId !== null) return { kind: 'subscription', id: subscriptionId }
  return event.ruleId === null ? null : { kind: 'rule', id: event.ruleId }
}

/** The subscription that an event is delivered to; undefined for a rule's event, so that JSON leaves it out. */
export function subscriptionIdOf(addressee: Addressee | null): string | undefined {
  return addressee?.kind === 'subscription' ? addressee.id : undefined
}

/**
 * The older way, of the version before the column `subscription_id`: `rule_id` names the subscription of a delivery, and its type has
 * a dot, which no type of the catalogue has. Nothing outside of this file knows of it. The version after the next drops it, when
 * retention has removed the last such row. Until then `rule_id` names a subscription in new rows too: processes of the version before
 * may read them.
 */
function olderSubscriptionOf({ type, ruleId }: AddressColumns): string | null {
  return type.includes('.') ? ruleId : null
}

/** The same in SQL: the subscription that a row was delivered to; null for a rule's row. */
export const subscriptionOf = {
  events: Prisma.sql`
    coalesce(events.subscription_id, CASE WHEN events.type LIKE '%.%' THEN events.rule_id END)`,
  executions: Prisma.sql`
    coalesce(executions.subscription_id, CASE WHEN executions.event_type LIKE '%.%' THEN executions.rule_id END)`,
}

/**
 * Leaves deliveries out of a list, by the older way alone, which holds for the deliveries of this version too. Postgres knows of LIKE
 * that nearly all rows match. Of a column without statistics it would assume that few rows are null, and of a function that few rows
 * match, and would sort all rows. Statistics know `subscription_id` when the older way is dropped.
 */
export const isNoDelivery = {
  events: Prisma.sql`events.type NOT LIKE '%.%'`,
  executions: Prisma.sql`executions.event_type NOT LIKE '%.%'`,
}
