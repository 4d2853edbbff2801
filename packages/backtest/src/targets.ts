import { hashOf, hashSpace } from './hash-of.js'

/** Up to so many targets are counted exactly. */
export const maxTargets = 2_048
const maxHeavy = 64

/** The state of a Targets, as JSON. */
export interface SavedTargets {
  /** Hashes and counts. */
  kept: [hash: number, count: number][]
  /** Only where there are more targets than are kept. */
  heavy?: [hash: number, count: number, excess: number][]
}

/**
 * Counts distinct targets, and how often the most frequent one occurs, in bounded memory.
 *
 * - Distinct: the k minimum values (KMV) with k = 2,048. The smallest hashes are kept: up to k targets the number is exact, beyond it is
 *   estimated from the largest kept hash, with a standard error of 2.2 %.
 * - The most frequent: exact up to k targets. Beyond, Space-Saving with 64 counters gives a number that it certainly has.
 */
export class Targets {
  readonly #kept: Map<number, number>
  #largest = -1
  #heavy: Map<number, { count: number; excess: number }> | undefined

  constructor(saved?: SavedTargets) {
    this.#kept = new Map(saved?.kept)
    if (saved?.heavy)
      this.#heavy = new Map(saved.heavy.map(([hash, count, excess]) => [hash, { count, excess }]))
    if (this.#kept.size === maxTargets) this.#largest = this.#findLargest()
  }

  get isExact(): boolean {
    return this.#heavy === undefined
  }

  add(target: string): void {
    const hash = hashOf(target)
    if (this.#heavy !== undefined) this.#addHeavy(this.#heavy, hash)
    const count = this.#kept.get(hash)
    if (count !== undefined) this.#kept.set(hash, count + 1)
    else if (this.#kept.size < maxTargets) {
      this.#kept.set(hash, 1)
      if (this.#kept.size === maxTargets) this.#largest = this.#findLargest()
    } else this.#overflow(hash)
  }

  /** The number of distinct targets. */
  count(): number {
    if (this.isExact) return this.#kept.size
    return Math.round(((maxTargets - 1) * hashSpace) / this.#largest)
  }

  /** How often the most frequent one occurs. */
  most(): number {
    if (this.#heavy === undefined) return Math.max(0, ...this.#kept.values())
    return Math.max(...[...this.#heavy.values()].map(({ count, excess }) => count - excess))
  }

  save(): SavedTargets {
    return {
      kept: [...this.#kept],
      ...(this.#heavy && {
        heavy: [...this.#heavy].map(([hash, { count, excess }]) => [hash, count, excess]),
      }),
    }
  }

  #overflow(hash: number): void {
    if (this.#heavy === undefined) {
      const most = [...this.#kept].sort((left, right) => right[1] - left[1]).slice(0, maxHeavy)
      this.#heavy = new Map(most.map(([kept, count]) => [kept, { count, excess: 0 }]))
      this.#addHeavy(this.#heavy, hash)
    }
    if (hash > this.#largest) return
    this.#kept.delete(this.#largest)
    this.#kept.set(hash, 1)
    this.#largest = this.#findLargest()
  }

  /** A new target takes the counter of the rarest one: what it counts too much is noted as its excess. */
  #addHeavy(heavy: Map<number, { count: number; excess: number }>, hash: number): void {
    const known = heavy.get(hash)
    if (known !== undefined) {
      known.count++
      return
    }
    let rarest = -1
    let least = Number.POSITIVE_INFINITY
    for (const [key, { count }] of heavy)
      if (count < least) {
        rarest = key
        least = count
      }
    heavy.delete(rarest)
    heavy.set(hash, { count: least + 1, excess: least })
  }

  #findLargest(): number {
    let largest = -1
    for (const hash of this.#kept.keys()) if (hash > largest) largest = hash
    return largest
  }
}
