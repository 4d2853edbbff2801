import type { Asked } from './resource.js'

/** A piece of work, from the moment at which it is asked for until it leaves. */
export interface Work extends Asked {
  readonly share: Share
  /** The oldest has the lowest. */
  readonly number: number
  /** What it was charged when it was admitted. */
  estimate: number
  /** What shares its place; undefined while it waits. */
  place: Place | undefined
  admit(): void
  refuse(error: unknown): void
}

/** What entered together. */
export interface Place {
  readonly shares: Set<Share>
  work: number
}

const halfLifeMs = 10_000

/** What an owner has of a resource: its line, its places, and what it has used. */
export class Share {
  /** Where its next piece begins in virtual time. */
  tag = 0
  /** Places that it has a part in. */
  places = 0
  /** In the order in which they are admitted. */
  readonly waiting: Work[] = []
  /** All that has not left, the oldest first. */
  readonly present = new Set<Work>()
  /** How much was refused since its line was empty. */
  refused = 0
  /** What a piece of it costs: this rises at once, and falls slowly. */
  typical = 0
  usedAt = 0
  /** What it has used of late: half of that counts ten seconds later. */
  #used = 0
  /** How much work has a place, by key. */
  readonly #keys = new Map<string, number>()

  get isIdle(): boolean {
    return this.places === 0 && this.waiting.length === 0
  }

  usedUntil(now: number): number {
    return this.#used === 0 ? 0 : this.#used * 0.5 ** ((now - this.usedAt) / halfLifeMs)
  }

  /** What continues is in front, the oldest first. All else is in the order of its arrival. */
  addWaiting(work: Work): void {
    const { waiting } = this
    const isBehind = ({ continues, number }: Work) => !continues || number > work.number
    const index = work.continues ? waiting.findIndex(isBehind) : -1
    if (index < 0) waiting.push(work)
    else waiting.splice(index, 0, work)
  }

  removeWaiting(work: Work): void {
    this.waiting.splice(this.waiting.indexOf(work), 1)
    if (this.waiting.length === 0) this.refused = 0
  }

  /** @returns the first piece whose key has a place left */
  findFirst(perKey: number): Work | undefined {
    if (perKey === Number.POSITIVE_INFINITY) return this.waiting[0]
    return this.waiting.find(({ key = '' }) => (this.#keys.get(key) ?? 0) < perKey)
  }

  /** Whether it is of the party that came first. */
  isOfFirst({ party }: Asked): boolean {
    const [first] = this.present
    return first === undefined || first.party === party
  }

  /** Whose work was in the way of a piece that has waited too long. */
  blame(work: Work): 'own' | 'others' {
    return this.places === 0 && this.waiting[0] === work ? 'others' : 'own'
  }

  charge({ estimate, key }: Work): void {
    this.tag += estimate
    this.#countKey(key, 1)
  }

  /** The cost is known now. */
  settle({ estimate, key }: Work, cost: number, now: number): void {
    this.tag += cost - estimate
    this.typical = Math.max(cost, this.typical + (cost - this.typical) / 8)
    this.#used = this.usedUntil(now) + cost
    this.usedAt = now
    this.#countKey(key, -1)
  }

  #countKey(key: string | undefined, change: 1 | -1): void {
    if (key === undefined) return
    const count = (this.#keys.get(key) ?? 0) + change
    if (count > 0) this.#keys.set(key, count)
    else this.#keys.delete(key)
  }
}
