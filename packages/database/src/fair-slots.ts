import { TooMuchAtOnce } from './database-errors.js'

interface Owner {
  running: number
  /** Each begins one piece of work. */
  readonly waiting: (() => void)[]
}

export interface SlotLimits {
  /** Of all owners together. */
  total: number
  /** Of one owner. */
  perOwner: number
  /** How many pieces of work of one owner may wait. */
  waitingPerOwner: number
  /** How long (ms) one may wait. */
  timeoutMs: number
}

/**
 * Runs pieces of work, some at a time. Each belongs to an owner, and the owners take turns: one with a hundred waiting delays another
 * by one piece.
 *
 *   run ─▶ a slot is free and the owner has one left ─▶ running ─▶ the next owner's turn
 *    ├───▶ waiting (in the order of the owner's calls) ┘
 *    └───▶ the owner has too much waiting, or waited too long: TooMuchAtOnce
 */
export class FairSlots {
  readonly #limits: SlotLimits
  /** Owners with work, in the order of their turns. */
  readonly #owners = new Map<string, Owner>()
  #running = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(owner)
    try {
      return await work()
    } finally {
      this.#leave(owner)
    }
  }

  #enter(name: string): Promise<void> | undefined {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: [] }
    this.#owners.set(name, owner)
    if (this.#running < this.#limits.total && owner.running < this.#limits.perOwner) {
      owner.running++
      this.#running++
      return undefined
    }
    const { waitingPerOwner, timeoutMs } = this.#limits
    if (owner.waiting.length >= waitingPerOwner) return Promise.reject(new TooMuchAtOnce())
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timeout)
        resolve()
      }
      const timeout = setTimeout(() => {
        owner.waiting.splice(owner.waiting.indexOf(begin), 1)
        this.#forget(name, owner)
        reject(new TooMuchAtOnce())
      }, timeoutMs)
      owner.waiting.push(begin)
    })
  }

  #leave(name: string): void {
    const owner = this.#owners.get(name)
    this.#running--
    if (owner === undefined) return
    owner.running--
    this.#forget(name, owner)
    this.#beginNext()
  }

  #beginNext(): void {
    for (const [name, owner] of this.#owners) {
      if (this.#running >= this.#limits.total) return
      if (owner.running >= this.#limits.perOwner) continue
      const begin = owner.waiting.shift()
      if (begin === undefined) continue
      owner.running++
      this.#running++
      // Its next turn comes after those of all others.
      this.#owners.delete(name)
      this.#owners.set(name, owner)
      begin()
    }
  }

  #forget(name: string, owner: Owner): void {
    if (owner.running === 0 && owner.waiting.length === 0) this.#owners.delete(name)
  }
}
