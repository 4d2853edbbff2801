/** How many requests at a time the API has not responded to completely. */
export interface SlotLimits {
  /** As many as there are connections, so none waits for one. */
  inAll: number
  /** One machine cannot take all slots, and a company behind one address has enough. */
  perAddress: number
  /** More than a page sends at a time. */
  perBearer: number
}

export const usualSlots: SlotLimits = { inAll: 64, perAddress: 32, perBearer: 8 }
/** Of requests that wait for new events, which would otherwise take the slots of all others: one of each open page. */
export const waitingSlots: SlotLimits = { inAll: 512, perAddress: 128, perBearer: 8 }

/** Counts the requests that are handed on. One that finds no slot is refused at once, and waits nowhere. */
export class Slots {
  readonly #taken = new Map<string, number>()
  readonly #limits: SlotLimits
  #inAll = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** @returns what gives the slot back, once; or who has too many */
  take(bearer: string, address: string): (() => void) | 'user' | 'address' | 'all' {
    const { inAll, perAddress, perBearer } = this.#limits
    const keys = [`bearer ${bearer}`, `address ${address}`] as const
    if (this.#countOf(keys[0]) >= perBearer) return 'user'
    if (this.#countOf(keys[1]) >= perAddress) return 'address'
    if (this.#inAll >= inAll) return 'all'
    this.#inAll++
    for (const key of keys) this.#taken.set(key, this.#countOf(key) + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#inAll--
      for (const key of keys) this.#giveBack(key)
    }
  }

  #countOf(key: string): number {
    return this.#taken.get(key) ?? 0
  }

  #giveBack(key: string): void {
    const left = this.#countOf(key) - 1
    if (left > 0) this.#taken.set(key, left)
    else this.#taken.delete(key)
  }
}
