/** The one that an event is for: the rule that is executed by hand, or the subscription that it is delivered to. */
export interface Addressee {
  kind: 'rule' | 'subscription'
  id: string
}

/** The columns of an event that say who it is for. */
export interface AddressColumns {
  ruleId: string | null
  isDelivery: boolean
}

/** Who a stored event is for; null: all active rules of its type. */
export function addresseeOf({ ruleId, isDelivery }: AddressColumns): Addressee | null {
  return ruleId === null ? null : { kind: isDelivery ? 'subscription' : 'rule', id: ruleId }
}

export function isDelivery(addressee: Addressee | null): boolean {
  return addressee?.kind === 'subscription'
}
