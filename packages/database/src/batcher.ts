import { DatabaseBusy, isRowFault, isTooLarge } from './database-errors.js'
import { FairTurns } from './fair-turns.js'

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
  /** Whose the item is: where more wait than a batch takes, the owners take turns. Without it, the items stay in their order. */
  ownerOf?: (item: Item) => string
  /**
   * An item that has waited for longer (ms) is not begun: its caller has been refused by then and must not find it done later. It
   * fails with DatabaseBusy.
   */
  timeoutMs: number
  /** How long (ms) a batch holds up the next one at most: then the next one begins beside it. There are two at a time at most. */
  patienceMs: number
}

const defaultLimits = {
  maxItems: 500,
  maxWeight: Number.POSITIVE_INFINITY,
  weigh: () => 0,
  timeoutMs: Number.POSITIVE_INFINITY,
  patienceMs: Number.POSITIVE_INFINITY,
}

const readPatienceMs = 1_000

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

/**
 * The same for a function that only reads. A connection that went mute stops the callers of its own batch until their statement ends, and delays
 * later callers by a second.
 */
export function createReadBatcher<Item, Result>(
  read: (items: Item[]) => Promise<Result[]>,
  limits: Partial<BatchLimits<Item>> = {},
): (item: Item) => Promise<Result> {
  return createBatcher(read, { patienceMs: readPatienceMs, ...limits })
}

class Batcher<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]>
  readonly #limits: BatchLimits<Item>
  /** undefined: no owners. */
  readonly #turns: FairTurns<Waiter<Item, Result>> | undefined
  #waiting: Waiter<Item, Result>[] = []
  readonly #underWay = new Set<Promise<void>>()
  #isRunning = false

  constructor(run: (items: Item[]) => Promise<Result[]>, limits: BatchLimits<Item>) {
    this.#run = run
    this.#limits = limits
    const { ownerOf, weigh, maxItems, maxWeight } = limits
    this.#turns =
      ownerOf &&
      new FairTurns(
        ({ item }) => ownerOf(item),
        ({ item }) => Math.max(weigh(item) / maxWeight, 1 / maxItems),
      )
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
      if (batch.length > 0) await this.#begin(batch)
    }
    this.#isRunning = false
  }

  /** Resolves when the next batch may begin. */
  #begin(batch: Waiter<Item, Result>[]): Promise<void> {
    const settled = this.#settle(batch).then(() => {
      this.#underWay.delete(settled)
    })
    this.#underWay.add(settled)
    return this.#underWay.size === 1 ? this.#waitPatiently(settled) : Promise.race(this.#underWay)
  }

  #waitPatiently(settled: Promise<void>): Promise<void> {
    const { patienceMs } = this.#limits
    if (patienceMs === Number.POSITIVE_INFINITY) return settled
    return new Promise((resolve) => {
      const patience = setTimeout(resolve, patienceMs)
      void settled.then(() => {
        clearTimeout(patience)
        resolve()
      })
    })
  }

  #takeNext(): Waiter<Item, Result>[] {
    const count = this.#countNext()
    if (this.#turns === undefined || count === this.#waiting.length) {
      this.#turns?.clear()
      return this.#waiting.splice(0, count)
    }
    const batch = this.#turns.take(this.#waiting, this.#createRoom())
    const taken = new Set(batch)
    this.#waiting = this.#waiting.filter((waiter) => !taken.has(waiter))
    return batch
  }

  /** How many of the waiting items the next batch takes, in their order. */
  #countNext(): number {
    const { maxItems, maxWeight } = this.#limits
    if (maxWeight === Number.POSITIVE_INFINITY) return Math.min(maxItems, this.#waiting.length)
    const hasRoom = this.#createRoom()
    const first = this.#waiting.findIndex((waiter) => !hasRoom(waiter))
    return first < 0 ? this.#waiting.length : first
  }

  /** @returns a function that counts an item, where a batch has room for it beside those before */
  #createRoom(): (waiter: Waiter<Item, Result>) => boolean {
    const { maxItems, maxWeight, weigh } = this.#limits
    let count = 0
    let weight = 0
    return ({ item }) => {
      const next = weight + weigh(item)
      if (count === maxItems || (next > maxWeight && count > 0)) return false
      count++
      weight = next
      return true
    }
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
