/**
 * The one that an event is for: the `rule` that is executed by hand, the rule of whose schedule it is a `tick`, or the `subscription` that it is
 * delivered to.
 */
export interface Addressee {
  kind: 'rule' | 'tick' | 'subscription'
  id: string
}

/** The columns of an event that say who it is for. */
export interface AddressColumns {
  addresseeKind: Addressee['kind'] | null
  addresseeId: string | null
}

/** Who a stored event is for; null: all active rules of its type. */
export function addresseeOf({ addresseeKind: kind, addresseeId: id }: AddressColumns): Addressee | null {
  return kind === null || id === null ? null : { kind, id }
}

export function isDelivery(addressee: Addressee | null): boolean {
  return addressee?.kind === 'subscription'
}
