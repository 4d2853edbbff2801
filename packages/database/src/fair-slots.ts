import { TooMuchAtOnce } from './database-errors.js'

interface Owner {
  running: number
  /** How long (ms) it had slots, of which time makes less and less. */
  usedMs: number
  /** The moment of `usedMs`. */
  usedAt: number
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
 * Runs pieces of work, some at a time. Each belongs to an owner, and the owners take turns: the next one is who had a slot for the least time lately.
 * So whoever asks for little waits for one piece of others, however many owners ask for much, and a hundred waiting pieces count no more than one.
 *
 *   run ─▶ a slot is free and the owner has one left ─▶ running ─▶ the next owner's turn
 *    ├───▶ waiting (in the order of the owner's calls) ┘
 *    └───▶ the owner has too much waiting, or waited too long: TooMuchAtOnce
 */
export class FairSlots {
  readonly #limits: SlotLimits
  /** Owners that have or had work, in the order of their last turns. */
  readonly #owners = new Map<string, Owner>()
  #forgottenAt = 0
  #running = 0
  #waiting = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(owner)
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      this.#leave(owner, performance.now() - startedAt)
    }
  }

  #enter(name: string): Promise<void> | undefined {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: [], usedMs: 0, usedAt: 0 }
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
        this.#waiting--
        reject(new TooMuchAtOnce())
      }, timeoutMs)
      owner.waiting.push(begin)
      this.#waiting++
    })
  }

  #leave(name: string, ms: number): void {
    const now = performance.now()
    const owner = this.#owners.get(name)
    this.#running--
    if (owner === undefined) return
    owner.running--
    owner.usedMs = usedMsOf(owner, now) + ms
    owner.usedAt = now
    // Its next turn comes after those of others that used as little.
    this.#owners.delete(name)
    this.#owners.set(name, owner)
    this.#beginNext(now)
    this.#forgetIdle(now)
  }

  #beginNext(now: number): void {
    while (this.#waiting > 0 && this.#running < this.#limits.total) {
      const next = this.#findNext(now)
      const begin = next?.waiting.shift()
      if (next === undefined || begin === undefined) return
      this.#waiting--
      next.running++
      this.#running++
      begin()
    }
  }

  #findNext(now: number): Owner | undefined {
    let next: Owner | undefined
    let least = Number.POSITIVE_INFINITY
    for (const owner of this.#owners.values()) {
      if (owner.waiting.length === 0 || owner.running >= this.#limits.perOwner) continue
      const used = usedMsOf(owner, now)
      if (used >= least) continue
      least = used
      next = owner
    }
    return next
  }

  /** What an owner used is forgotten with it, after some time without work. */
  #forgetIdle(now: number): void {
    if (now - this.#forgottenAt < halfLifeMs) return
    this.#forgottenAt = now
    for (const [name, owner] of this.#owners)
      if (owner.running === 0 && owner.waiting.length === 0 && usedMsOf(owner, now) < 1)
        this.#owners.delete(name)
  }
}

/** After this time (ms) what an owner used counts half. */
const halfLifeMs = 2_000

function usedMsOf({ usedMs, usedAt }: Owner, now: number): number {
  return usedMs * 0.5 ** ((now - usedAt) / halfLifeMs)
}
