import { DatabaseBusy, isRowFault } from './database-errors.js'

/**
 * Turns a statement over many rows into a function for one: whatever is asked for while a commit is under way goes
 * into the next one. Idle, a row waits for nobody; under load, batches form by themselves.
 *
 *   idle ──item──▶ committing ──items meanwhile──▶ waiting ──commit ends──▶ committing …
 *
 * Each promise settles with its own row's result, after the commit. A row that Postgres refuses (its data, not the
 * connection) fails alone: the batch is halved until it stands by itself.
 *
 * An item that has waited for longer than `patienceMs` is not begun any more: whoever asked for it is told otherwise by then,
 * and must not find it done later. It fails with DatabaseBusy.
 *
 * @param commit gets 1 to `maxItems` items, answers one result for each, in their order
 */
export function groupCommit<Item, Result>(
  commit: (items: Item[]) => Promise<Result[]>,
  maxItems = 500,
  patienceMs = Number.POSITIVE_INFINITY,
): (item: Item) => Promise<Result> {
  interface Entry {
    item: Item
    /** By performance.now(). */
    askedAt: number
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  let waiting: Entry[] = []
  let isCommitting = false

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, askedAt: performance.now(), resolve, reject })
      if (!isCommitting) void drain()
    })

  async function drain(): Promise<void> {
    isCommitting = true
    // One turn of the event loop lets the callers that became ready together share the first commit.
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      refuseLate()
      const batch = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      if (batch.length > 0) await settle(batch)
    }
    isCommitting = false
  }

  /** They stand in the order in which they came. */
  function refuseLate(): void {
    const earliest = performance.now() - patienceMs
    const inTime = waiting.findIndex(({ askedAt }) => askedAt >= earliest)
    if (inTime === 0) return
    const late = inTime < 0 ? waiting : waiting.slice(0, inTime)
    waiting = inTime < 0 ? [] : waiting.slice(inTime)
    for (const { reject } of late) reject(new DatabaseBusy('Those before took too long'))
  }

  async function settle(batch: Entry[]): Promise<void> {
    try {
      const results = await commit(batch.map((entry) => entry.item))
      batch.forEach((entry, index) => {
        entry.resolve(results[index] as Result)
      })
    } catch (error) {
      if (batch.length > 1 && isRowFault(error)) {
        const half = batch.length >> 1
        await settle(batch.slice(0, half))
        await settle(batch.slice(half))
      } else {
        for (const entry of batch) entry.reject(error)
      }
    }
  }
}
