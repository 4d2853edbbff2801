import { setImmediate as nextTurn } from 'node:timers/promises'
import { createKeyedMutex } from '@automation/database'

/** How long (ms) work may hold the event loop before others have a turn: leases and locks of jobs are renewed there. */
const sliceMs = 20

/**
 * Divides work that many callers begin in one turn of the event loop, such as judging the events of a job. Each calls `begin` before
 * a piece of it; what does not fit into the present slice begins in a later turn, one piece after another.
 */
export class TimeSlices {
  /** When the present turn began; undefined before its first piece. */
  #startedAt: number | undefined
  readonly #takeTurn = createKeyedMutex()

  /** @returns undefined where the work may begin at once */
  begin(): Promise<void> | undefined {
    const now = performance.now()
    if (this.#startedAt === undefined) {
      this.#startedAt = now
      setImmediate(() => {
        this.#startedAt = undefined
      })
      return undefined
    }
    return now - this.#startedAt < sliceMs ? undefined : this.#takeTurn('', () => nextTurn())
  }
}
