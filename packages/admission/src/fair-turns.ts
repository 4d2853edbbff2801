/** The items of an owner, in their order. */
interface Line<Item> {
  readonly owner: string
  readonly items: Item[]
  /** How many of them are taken. */
  taken: number
  /** Where its next item begins in virtual time. */
  tag: number
}

/**
 * Takes items of several owners in turns, by start-time fair queueing as FairSlots does: the owner that is furthest behind is next, and an item moves
 * its owner on by what it costs. So turns count costs, and not items, and they go on from one batch to the next. An owner that had nothing begins at
 * the present virtual time, where the last item began.
 */
export class FairTurns<Item> {
  readonly #ownerOf: (item: Item) => string
  readonly #costOf: (item: Item) => number
  /** Where the next item of an owner begins in virtual time. */
  readonly #tags = new Map<string, number>()
  #virtualNow = 0

  constructor(ownerOf: (item: Item) => string, costOf: (item: Item) => number) {
    this.#ownerOf = ownerOf
    this.#costOf = costOf
  }

  /**
   * @param waiting the oldest item first
   * @param hasRoom is asked for each item in its turn; the first one that has no room ends the batch
   */
  take(waiting: Item[], hasRoom: (item: Item) => boolean): Item[] {
    const lines = this.#formLines(waiting)
    const taken: Item[] = []
    for (;;) {
      const next = this.#findNext(lines)
      const item = next?.items[next.taken]
      if (next === undefined || item === undefined || !hasRoom(item)) break
      next.taken++
      taken.push(item)
      this.#virtualNow = next.tag
      next.tag += this.#costOf(item)
      this.#tags.set(next.owner, next.tag)
    }
    this.#forgetIdle(lines)
    return taken
  }

  /** Nobody waits any longer: all begin anew. */
  clear(): void {
    this.#tags.clear()
    this.#virtualNow = 0
  }

  #formLines(waiting: Item[]): Line<Item>[] {
    const lines = new Map<string, Line<Item>>()
    for (const item of waiting) {
      const owner = this.#ownerOf(item)
      const line = lines.get(owner)
      if (line === undefined) lines.set(owner, { owner, items: [item], taken: 0, tag: this.#tagOf(owner) })
      else line.items.push(item)
    }
    return [...lines.values()]
  }

  #findNext(lines: Line<Item>[]): Line<Item> | undefined {
    let next: Line<Item> | undefined
    for (const line of lines) {
      if (line.taken === line.items.length) continue
      if (next === undefined || line.tag < next.tag) next = line
    }
    return next
  }

  #tagOf(owner: string): number {
    return Math.max(this.#tags.get(owner) ?? 0, this.#virtualNow)
  }

  /** An owner without items that is not ahead of the others is as one that comes for the first time. */
  #forgetIdle(lines: Line<Item>[]): void {
    const waiting = new Set(
      lines.filter(({ items, taken }) => taken < items.length).map(({ owner }) => owner),
    )
    for (const [owner, tag] of this.#tags)
      if (tag <= this.#virtualNow && !waiting.has(owner)) this.#tags.delete(owner)
  }
}
