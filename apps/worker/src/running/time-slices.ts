import { setImmediate as nextTurn } from 'node:timers/promises'
import { createKeyedMutex } from '@automation/database'

/** How long (ms) work may hold the event loop before others have a turn: leases and locks of jobs are renewed there. */
const sliceMs = 20

/**
 * Divides work that many callers begin in one turn of the event loop, such as evaluating the events of a job. Each calls `begin` before
 * a piece of it; what does not fit into the present slice begins in a later turn, one piece after another.
 */
export class TimeSlices {
  /** When the present turn began; undefined before its first piece. */
  #startedAt: number | undefined
  readonly #takeTurn = createKeyedMutex()

  /**
   * @param pause lets others have the event loop after a slice that took so long (ms)
   * @returns undefined where the work may begin at once
   */
  begin(pause: (tookMs: number) => Promise<void> = () => nextTurn()): Promise<void> | undefined {
    if (this.#findExcess() === undefined) return undefined
    return this.#takeTurn('', async () => {
      // Work that waited before this one may have paused already.
      const tookMs = this.#findExcess()
      if (tookMs === undefined) return
      await pause(tookMs)
      this.#start()
    })
  }

  /** @returns how long (ms) the present turn is at work, where it has no room left */
  #findExcess(): number | undefined {
    if (this.#startedAt === undefined) this.#start()
    const tookMs = performance.now() - (this.#startedAt ?? 0)
    return tookMs < sliceMs ? undefined : tookMs
  }

  #start(): void {
    this.#startedAt = performance.now()
    setImmediate(() => {
      this.#startedAt = undefined
    })
  }
}
