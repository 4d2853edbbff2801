import { DatabaseBusy, isRowFault } from './database-errors.js'

interface Waiter<Item, Result> {
  item: Item
  /** By performance.now(). */
  askedAt: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * Turns a function of many items into a function of one: items that arrive while a batch is under way form the next batch. An
 * idle batcher delays nobody; under load, batches form by themselves.
 *
 *   idle ──item──▶ running ──items meanwhile──▶ waiting ──batch ends──▶ running …
 *
 * Each promise settles with the result of its own item. A row that Postgres refuses (for its data, not its connection) fails alone:
 * the batch is halved until the row stands by itself.
 *
 * @param run gets 1 to `maxItems` items and returns a result for each, in their order
 * @param timeoutMs an item that has waited for longer is not begun: its caller has been refused by then and must not find it done
 * later. It fails with DatabaseBusy.
 */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  maxItems = 500,
  timeoutMs = Number.POSITIVE_INFINITY,
): (item: Item) => Promise<Result> {
  const batcher = new Batcher(run, maxItems, timeoutMs)
  return (item) => batcher.add(item)
}

class Batcher<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]>
  readonly #maxItems: number
  readonly #timeoutMs: number
  #waiting: Waiter<Item, Result>[] = []
  #isRunning = false

  constructor(run: (items: Item[]) => Promise<Result[]>, maxItems: number, timeoutMs: number) {
    this.#run = run
    this.#maxItems = maxItems
    this.#timeoutMs = timeoutMs
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
      const batch = this.#waiting.slice(0, this.#maxItems)
      this.#waiting = this.#waiting.slice(this.#maxItems)
      if (batch.length > 0) await this.#settle(batch)
    }
    this.#isRunning = false
  }

  /** Items wait in the order in which they arrived. */
  #refuseLate(): void {
    const earliest = performance.now() - this.#timeoutMs
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
      if (batch.length > 1 && isRowFault(error)) {
        const half = batch.length >> 1
        await this.#settle(batch.slice(0, half))
        await this.#settle(batch.slice(half))
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }
}
