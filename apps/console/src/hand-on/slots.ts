/** Requests at a time that the API has not responded to completely: as many as there are connections, so none waits for one. */
export const maxInAll = 64
/** Half of them for one address: one machine cannot take all slots, and a company behind one address has enough. */
const maxPerAddress = 32
/** Of one session: more than a page sends at a time. */
const maxPerBearer = 8

/** Counts the requests that are handed on. One that finds no slot is refused at once, and waits nowhere. */
export class Slots {
  readonly #taken = new Map<string, number>()
  #inAll = 0

  /** @returns what gives the slot back, once; or who has too many */
  take(bearer: string, address: string): (() => void) | 'user' | 'address' | 'all' {
    const keys = [`bearer ${bearer}`, `address ${address}`] as const
    if (this.#countOf(keys[0]) >= maxPerBearer) return 'user'
    if (this.#countOf(keys[1]) >= maxPerAddress) return 'address'
    if (this.#inAll >= maxInAll) return 'all'
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
