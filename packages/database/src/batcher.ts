import { DatabaseBusy, isRowFault, isTooLarge } from './database-errors.js'

interface Waiter<Item, Result> {
  item: Item
  /** By performance.now(). */
  askedAt: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

export interface BatchLimits<Item> {
  maxItems: number
  /** Of all items of a batch together. An item that has more forms a batch of its own. */
  maxWeight: number
  weigh: (item: Item) => number
  /** Whose the item is: where more wait than a batch takes, the owners take turns, the one who has waited longest first. */
  ownerOf: (item: Item) => string
  /**
   * An item that has waited for longer (ms) is not begun: its caller has been refused by then and must not find it done later. It
   * fails with DatabaseBusy.
   */
  timeoutMs: number
}

const defaultLimits = {
  maxItems: 500,
  maxWeight: Number.POSITIVE_INFINITY,
  weigh: () => 0,
  ownerOf: () => '',
  timeoutMs: Number.POSITIVE_INFINITY,
}

/**
 * Turns a function of many items into a function of one: items that arrive while a batch is under way form the next batch. An
 * idle batcher delays nobody; under load, batches form by themselves.
 *
 *   idle ──item──▶ running ──items meanwhile──▶ waiting ──batch ends──▶ running …
 *
 * Each promise settles with the result of its own item. A row that Postgres refuses (for its data, not its connection), or an item
 * that is too large for a statement, fails alone: the batch is halved until the item stands by itself.
 *
 * @param run gets 1 to `maxItems` items and returns a result for each, in their order
 */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  limits: Partial<BatchLimits<Item>> = {},
): (item: Item) => Promise<Result> {
  const batcher = new Batcher(run, { ...defaultLimits, ...limits })
  return (item) => batcher.add(item)
}

class Batcher<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]>
  readonly #limits: BatchLimits<Item>
  #waiting: Waiter<Item, Result>[] = []
  #isRunning = false

  constructor(run: (items: Item[]) => Promise<Result[]>, limits: BatchLimits<Item>) {
    this.#run = run
    this.#limits = limits
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, askedAt: performance.now(), resolve, reject })
      if (!this.#isRunning) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isRunning = true
    // One turn of the event loop lets callers that become ready together share the first batch.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      this.#refuseLate()
      const batch = this.#takeNext()
      if (batch.length > 0) await this.#settle(batch)
    }
    this.#isRunning = false
  }

  #takeNext(): Waiter<Item, Result>[] {
    const waiting = this.#waiting
    if (this.#countNext(waiting) === waiting.length) {
      this.#waiting = []
      return waiting
    }
    const inTurns = takeTurns(waiting, ({ item }) => this.#limits.ownerOf(item))
    const batch = inTurns.slice(0, this.#countNext(inTurns))
    const taken = new Set(batch)
    this.#waiting = waiting.filter((waiter) => !taken.has(waiter))
    return batch
  }

  /** How many of the waiting items, in this order, the next batch takes. */
  #countNext(waiting: Waiter<Item, Result>[]): number {
    const { maxItems, maxWeight, weigh } = this.#limits
    const most = Math.min(maxItems, waiting.length)
    if (maxWeight === Number.POSITIVE_INFINITY) return most
    let count = 0
    let weight = 0
    while (count < most) {
      weight += weigh((waiting[count] as Waiter<Item, Result>).item)
      if (weight > maxWeight && count > 0) break
      count++
    }
    return count
  }

  /** Items wait in the order in which they arrived. */
  #refuseLate(): void {
    const earliest = performance.now() - this.#limits.timeoutMs
    const inTime = this.#waiting.findIndex(({ askedAt }) => askedAt >= earliest)
    if (inTime === 0) return
    const late = this.#waiting.splice(0, inTime < 0 ? this.#waiting.length : inTime)
    for (const { reject } of late) reject(new DatabaseBusy('Earlier requests took too long'))
  }

  async #settle(batch: Waiter<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result)
      })
    } catch (error) {
      if (batch.length > 1 && (isRowFault(error) || isTooLarge(error))) {
        const half = batch.length >> 1
        await this.#settle(batch.slice(0, half))
        await this.#settle(batch.slice(half))
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }
}

/** @returns the first item of each owner, then the second of each, and so on */
function takeTurns<Item>(items: Item[], ownerOf: (item: Item) => string): Item[] {
  const rounds: Item[][] = []
  const counts = new Map<string, number>()
  for (const item of items) {
    const owner = ownerOf(item)
    const round = counts.get(owner) ?? 0
    counts.set(owner, round + 1)
    rounds[round] ??= []
    rounds[round].push(item)
  }
  return rounds.flat()
}
