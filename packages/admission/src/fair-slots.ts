import { TooMuchAtOnce } from './too-much-at-once.js'

interface Owner {
  readonly name: string
  running: number
  /** Where its next piece begins in virtual time: each piece moves it on by the ms that the piece took. */
  tag: number
  /** Each begins one piece of work. */
  readonly waiting: (() => void)[]
}

export interface SlotLimits {
  /** Of all owners together. */
  total: number
  /** Of one owner; a function where that changes with time. */
  perOwner: number | ((owner: string) => number)
  /** How many pieces of work of one owner may wait. */
  waitingPerOwner: number
  /** How long (ms) one may wait. */
  timeoutMs: number
}

/**
 * Runs pieces of work, some at a time. Each belongs to an owner, and the owners take turns by start-time fair queueing: virtual time passes as fast as
 * the busy owners get their equal shares, and the owner that is furthest behind is next. An owner that comes back after a while begins at the
 * present virtual time: it has saved up nothing, and owes nothing. So an owner that uses less than its share waits for one piece of others, however
 * many owners ask for much, and a hundred waiting pieces count no more than one.
 *
 *   run ─▶ a slot is free and the owner has one left ─▶ running ─▶ the next owner's turn
 *    ├───▶ waiting (in the order of the owner's calls) ┘
 *    └───▶ the owner has too much waiting, or waited too long: TooMuchAtOnce
 */
export class FairSlots {
  readonly #limits: SlotLimits
  /** Owners that have work, or had so much of late that they are ahead of others. */
  readonly #owners = new Map<string, Owner>()
  /** The tag of the piece that began last. */
  #virtualNow = 0
  /** Owners that have work waiting, in the order of their last turns. */
  readonly #inLine = new Set<Owner>()
  #forgottenAt = 0
  #running = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /**
   * @param timeoutMs how long it may wait, where that is less than the limit for all
   * @throws TooMuchAtOnce
   */
  async run<Result>(
    owner: string,
    work: () => Promise<Result>,
    timeoutMs = this.#limits.timeoutMs,
  ): Promise<Result> {
    await this.enter(owner, timeoutMs)
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      this.leave(owner, performance.now() - startedAt)
    }
  }

  /**
   * Takes a slot, for work that may leave before it ends.
   *
   * @returns undefined where a slot is free; otherwise a promise that resolves once a slot is taken, and rejects with TooMuchAtOnce
   */
  enter(name: string, timeoutMs = this.#limits.timeoutMs): Promise<void> | undefined {
    const owner = this.#owners.get(name) ?? { name, running: 0, waiting: [], tag: 0 }
    this.#owners.set(name, owner)
    if (isIdle(owner)) owner.tag = Math.max(owner.tag, this.#virtualNow)
    // Nobody overtakes those that wait, also where the limit has grown since.
    if (this.#running < this.#limits.total && owner.waiting.length === 0 && this.#hasSlot(owner)) {
      this.#begin(owner)
      return undefined
    }
    if (owner.waiting.length >= this.#limits.waitingPerOwner || timeoutMs <= 0)
      return Promise.reject(new TooMuchAtOnce(isIdle(owner)))
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timeout)
        resolve()
      }
      const timeout = setTimeout(() => {
        const isBehindOthers = owner.running === 0 && owner.waiting[0] === begin
        owner.waiting.splice(owner.waiting.indexOf(begin), 1)
        if (owner.waiting.length === 0) this.#inLine.delete(owner)
        reject(new TooMuchAtOnce(isBehindOthers))
      }, timeoutMs)
      owner.waiting.push(begin)
      this.#inLine.add(owner)
      this.#beginNext()
    })
  }

  /** Gives a slot back, once for each that was taken. @param ms how long it was held */
  leave(name: string, ms: number): void {
    const owner = this.#owners.get(name)
    if (owner === undefined || owner.running === 0) return
    this.#running--
    owner.running--
    owner.tag += ms
    // Its next turn comes after those of others with the same tag.
    if (this.#inLine.delete(owner)) this.#inLine.add(owner)
    this.#beginNext()
    this.#forgetIdle()
  }

  #begin(owner: Owner): void {
    owner.running++
    this.#running++
    this.#virtualNow = Math.max(this.#virtualNow, owner.tag)
  }

  #beginNext(): void {
    while (this.#inLine.size > 0 && this.#running < this.#limits.total) {
      const next = this.#findNext()
      const begin = next?.waiting.shift()
      if (next === undefined || begin === undefined) return
      if (next.waiting.length === 0) this.#inLine.delete(next)
      this.#begin(next)
      begin()
    }
  }

  #hasSlot({ name, running }: Owner): boolean {
    const { perOwner } = this.#limits
    return running < (typeof perOwner === 'number' ? perOwner : perOwner(name))
  }

  #findNext(): Owner | undefined {
    let next: Owner | undefined
    for (const owner of this.#inLine) {
      if (!this.#hasSlot(owner)) continue
      if (next === undefined || owner.tag < next.tag) next = owner
    }
    return next
  }

  /** An owner without work is a new one when it comes back, as soon as virtual time has passed its tag, and at the end of all work. */
  #forgetIdle(): void {
    if (this.#running === 0 && this.#inLine.size === 0) {
      this.#owners.clear()
      return
    }
    const now = performance.now()
    if (now - this.#forgottenAt < forgetMs) return
    this.#forgottenAt = now
    for (const [name, owner] of this.#owners)
      if (isIdle(owner) && owner.tag <= this.#virtualNow) this.#owners.delete(name)
  }
}

/** How often (ms) owners without work are looked for. */
const forgetMs = 1_000

function isIdle({ running, waiting }: Owner): boolean {
  return running === 0 && waiting.length === 0
}
