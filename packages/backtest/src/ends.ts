export type SavedEnds = [at: number, execution: number][]

/** When executions end or begin, the earliest first: each has one such moment. Beyond a limit the furthest are forgotten. */
export class Ends {
  readonly #limit: number
  readonly #ordered: SavedEnds
  readonly #moments: Map<number, number>

  constructor(limit: number, saved: SavedEnds = []) {
    this.#limit = limit
    this.#ordered = saved.map(([at, execution]) => [at, execution])
    this.#moments = new Map(saved.map(([at, execution]) => [execution, at]))
  }

  set(execution: number, at: number): void {
    if (this.#moments.get(execution) === at) return
    this.remove(execution)
    this.#moments.set(execution, at)
    this.#ordered.splice(this.#placeOf(at, execution), 0, [at, execution])
    if (this.#ordered.length <= this.#limit) return
    const [, furthest] = this.#ordered.pop() as SavedEnds[number]
    this.#moments.delete(furthest)
  }

  remove(execution: number): void {
    const at = this.#moments.get(execution)
    if (at === undefined) return
    this.#ordered.splice(this.#placeOf(at, execution), 1)
    this.#moments.delete(execution)
  }

  /** Takes the first that is before a moment. */
  takeBefore(moment: number): { at: number; execution: number } | undefined {
    const [first] = this.#ordered
    if (first === undefined || first[0] >= moment) return undefined
    this.#ordered.shift()
    this.#moments.delete(first[1])
    return { at: first[0], execution: first[1] }
  }

  save(): SavedEnds {
    return this.#ordered
  }

  #placeOf(at: number, execution: number): number {
    let [low, high] = [0, this.#ordered.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const [one, other] = this.#ordered[middle] as SavedEnds[number]
      if (one < at || (one === at && other < execution)) low = middle + 1
      else high = middle
    }
    return low
  }
}
