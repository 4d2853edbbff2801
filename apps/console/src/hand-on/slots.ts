import { networkOf } from '@automation/process/server'

/** How many requests at a time: most have no whole response of the API yet. */
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
/** Of what opens a frame: which origins may frame it, and its link. A frame that finds no slot stays empty, and a company comes at nine. */
export const frameSlots: SlotLimits = { inAll: 256, perAddress: 128, perBearer: 8 }
/** Of forms for decisions that have not arrived completely: up to 16 KiB each. Whose they are is not known yet. */
export const arrivingSlots: SlotLimits = { inAll: 1_024, perAddress: 64, perBearer: Number.POSITIVE_INFINITY }

/** Counts requests, such as those that are handed on. One that finds no slot is refused at once, and waits nowhere. */
export class Slots {
  readonly #taken = new Map<string, number>()
  readonly #limits: SlotLimits
  #inAll = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /**
   * @param ip undefined, despite its type in Fastify, once the client has disconnected
   * @param bearer the session, or the workspace of a link
   * @returns what gives the slot back, once; or who has too many
   */
  take(ip: string | undefined, bearer: string): (() => void) | 'user' | 'address' | 'all' {
    const { inAll, perAddress, perBearer } = this.#limits
    const user = `bearer ${bearer}`
    const address = `address ${networkOf(ip ?? 'gone')}`
    if (this.#countOf(user) >= perBearer) return 'user'
    if (this.#countOf(address) >= perAddress) return 'address'
    if (this.#inAll >= inAll) return 'all'
    this.#inAll++
    const keys = [user, address]
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
