import { DatabaseBusy } from './database-errors.js'

/**
 * Creates a function that runs one piece of work at a time for each key, in the order of the calls, whether or not earlier work
 * failed. Unlike waiting for a locked row, waiting here holds no connection.
 *
 * @param timeoutMs work that has waited for longer is not begun: DatabaseBusy
 */
export function createKeyedMutex(timeoutMs = Number.POSITIVE_INFINITY) {
  /** The end of the last work of each key. */
  const ends = new Map<string, Promise<void>>()

  return <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const deadline = performance.now() + timeoutMs
    const result = (ends.get(key) ?? Promise.resolve()).then(() => {
      if (performance.now() > deadline) throw new DatabaseBusy('Earlier requests took too long')
      return work()
    })
    const leave = () => {
      if (ends.get(key) === end) ends.delete(key)
    }
    const end: Promise<void> = result.then(leave, leave)
    ends.set(key, end)
    return result
  }
}
