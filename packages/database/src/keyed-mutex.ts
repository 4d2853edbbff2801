import { DatabaseBusy } from './database-errors.js'

/**
 * Creates a function that runs one piece of work at a time for each key, in the order of the calls, whether or not earlier work
 * failed. Unlike waiting for a locked row, waiting here holds no connection.
 *
 * Work that waits for longer than its call names (timeoutMs) is refused at once, and never begun: DatabaseBusy.
 */
export function createKeyedMutex() {
  /** The end of the last work of each key. */
  const ends = new Map<string, Promise<void>>()

  return <Result>(
    key: string,
    work: () => Promise<Result>,
    timeoutMs = Number.POSITIVE_INFINITY,
  ): Promise<Result> => {
    const before = ends.get(key)
    const turn = new Turn(before === undefined ? Number.POSITIVE_INFINITY : timeoutMs)
    const result = (before ?? Promise.resolve()).then(() => turn.begin(work))
    const leave = () => {
      if (ends.get(key) === end) ends.delete(key)
    }
    const end: Promise<void> = result.then(leave, leave)
    ends.set(key, end)
    return Promise.race([result, turn.refused])
  }
}

/** waiting ─▶ begun, or refused at its deadline */
class Turn {
  readonly refused: Promise<never>
  #timer: NodeJS.Timeout | undefined
  #error: Error | undefined

  constructor(timeoutMs: number) {
    this.refused = new Promise((_, reject) => {
      if (timeoutMs === Number.POSITIVE_INFINITY) return
      this.#timer = setTimeout(() => {
        this.#error = new DatabaseBusy('Earlier requests took too long')
        reject(this.#error)
      }, timeoutMs)
    })
  }

  begin<Result>(work: () => Promise<Result>): Promise<Result> {
    clearTimeout(this.#timer)
    return this.#error === undefined ? work() : Promise.reject(this.#error)
  }
}
