import { DatabaseBusy, isRowFault, isStatementTimeout, isTooLarge } from './database-errors.js'

interface Waiter<Item, Result> {
  item: Item
  /** By performance.now(). */
  askedAt: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** The statements of one batch that took too long. */
interface Timeouts {
  count: number
  last: unknown
  /** When the rest of the batch fails (by performance.now()). */
  endsAt: number
}

/** After so many, it is Postgres that is slow, not one item: nothing more of the batch is begun. */
const maxTimeouts = 3

export interface BatchLimits<Item> {
  maxItems: number
  /** Of all items of a batch together. An item that has more forms a batch of its own. */
  maxWeight: number
  weigh: (item: Item) => number
  /**
   * An item that has waited for longer (ms) is not begun: its caller has been refused by then and must not find it done later. It
   * fails with DatabaseBusy.
   */
  timeoutMs: number
  /** How long (ms) a batch holds up the next one at most: then the next one begins beside it. */
  patienceMs: number
  /** How many batches are in progress at a time at most. */
  atOnce: number
  /**
   * How long (ms) after the begin of a batch the next one begins at the earliest, at most: some ms for each item that was not alone, since it shared
   * the batch with another one or came while it ran. So items that follow one another closely share a batch, and one that is alone waits for nothing.
   */
  pauseMs: number
  /** How long (ms) the items of a batch that took too long are repeated one by one. */
  repeatMs: number
}

const defaultLimits = {
  maxItems: 500,
  maxWeight: Number.POSITIVE_INFINITY,
  weigh: () => 0,
  timeoutMs: Number.POSITIVE_INFINITY,
  patienceMs: Number.POSITIVE_INFINITY,
  atOnce: 2,
  pauseMs: 0,
  repeatMs: 20_000,
}

const readPatienceMs = 1_000
/** Of a pause, for each item: few callers, who send their next item after the last result, come back about as late. */
const pauseOfItemMs = 3

/**
 * Turns a function of many items into a function of one: items that arrive while a batch is in progress form the next batch. An
 * idle batcher delays nobody; under load, batches form by themselves.
 *
 *   idle ──item──▶ running ──items meanwhile──▶ waiting ──batch ends──▶ running …
 *
 * Each promise settles with the result of its own item. A row that Postgres refuses (for its data, not its connection), or an item
 * that is too large for a statement, fails alone: the batch is halved until the item stands by itself. Postgres undoes a statement that it cancels
 * because it takes too long: then the items follow one by one. Where it does not respond at all, nobody knows what was done, and nothing is
 * repeated.
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
  #waiting: Waiter<Item, Result>[] = []
  /** When each began (by performance.now()). */
  readonly #underWay = new Map<Promise<void>, number>()
  #isRunning = false
  /** When the last batch began (by performance.now()), and how many items have come with its first one or while it ran. */
  #begunAt = 0
  #company = 0
  /** How many runs are in progress. A caller whose result is there may ask again before its batch is known to be over. */
  #runs = 0

  constructor(run: (items: Item[]) => Promise<Result[]>, limits: BatchLimits<Item>) {
    this.#run = run
    this.#limits = limits
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, askedAt: performance.now(), resolve, reject })
      if (this.#runs > 0) this.#company++
      if (!this.#isRunning) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isRunning = true
    // One turn of the event loop lets callers that become ready together share the first batch.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      await this.#untilRoom()
      await this.#untilTurn()
      this.#refuseLate()
      const batch = this.#takeNext()
      if (batch.length > 0) this.#begin(batch)
    }
    this.#isRunning = false
  }

  #begin(batch: Waiter<Item, Result>[]): void {
    const settled = this.#settle(batch).then(() => {
      this.#underWay.delete(settled)
    })
    this.#begunAt = performance.now()
    this.#company = batch.length - 1
    this.#underWay.set(settled, this.#begunAt)
  }

  /** Resolves when a batch may begin: nothing is in progress, or less than may be, and the last one has had its time alone. */
  async #untilRoom(): Promise<void> {
    for (;;) {
      const last = [...this.#underWay].at(-1)
      if (last === undefined) return
      if (this.#underWay.size >= this.#limits.atOnce) {
        await Promise.race(this.#underWay.keys())
        continue
      }
      const [settled, begunAt] = last
      const patienceMs = begunAt + this.#limits.patienceMs - performance.now()
      if (patienceMs <= 0) return
      await endsWithin(settled, patienceMs)
    }
  }

  /** Resolves when the pause after the last batch is over, or if the next one is full already. */
  async #untilTurn(): Promise<void> {
    const wantedMs = Math.min(this.#limits.pauseMs, pauseOfItemMs * this.#company)
    const pauseMs = this.#begunAt + wantedMs - performance.now()
    if (pauseMs <= 0 || this.#isFull()) return
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }

  #isFull(): boolean {
    const count = this.#countNext()
    return count === this.#limits.maxItems || count < this.#waiting.length
  }

  #takeNext(): Waiter<Item, Result>[] {
    return this.#waiting.splice(0, this.#countNext())
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

  async #settle(
    batch: Waiter<Item, Result>[],
    timeouts: Timeouts = { count: 0, last: undefined, endsAt: Number.POSITIVE_INFINITY },
  ): Promise<void> {
    try {
      if (timeouts.count > 0 && (timeouts.count === maxTimeouts || this.#isLate(batch, timeouts)))
        throw timeouts.last
      const results = await this.#runNow(batch.map(({ item }) => item))
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result)
      })
    } catch (error) {
      if (isStatementTimeout(error) && error !== timeouts.last) this.#noteTimeout(timeouts, error)
      const parts = batch.length > 1 ? divide(batch, error) : []
      for (const part of parts) await this.#settle(part, timeouts)
      if (parts.length === 0) for (const { reject } of batch) reject(error)
    }
  }

  async #runNow(items: Item[]): Promise<Result[]> {
    this.#runs++
    try {
      return await this.#run(items)
    } finally {
      this.#runs--
    }
  }

  #noteTimeout(timeouts: Timeouts, error: unknown): void {
    if (timeouts.count === 0) timeouts.endsAt = performance.now() + this.#limits.repeatMs
    timeouts.count++
    timeouts.last = error
  }

  #isLate(batch: Waiter<Item, Result>[], { endsAt }: Timeouts): boolean {
    const now = performance.now()
    return now > endsAt || batch.some(({ askedAt }) => askedAt < now - this.#limits.timeoutMs)
  }
}

/** @returns the parts in which a batch that failed may be repeated; none where that would not help */
function divide<Item>(batch: Item[], error: unknown): Item[][] {
  if (isStatementTimeout(error)) return batch.map((item) => [item])
  const half = batch.length >> 1
  return isRowFault(error) || isTooLarge(error) ? [batch.slice(0, half), batch.slice(half)] : []
}

async function endsWithin(settled: Promise<void>, ms: number): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return settled
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    void settled.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
