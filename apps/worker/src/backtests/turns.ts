import { setTimeout as pause } from 'node:timers/promises'
import type { BacktestPace } from '@automation/rules'

/** How long (ms) a gentle backtest works before it rests; an event that takes longer is followed by a rest. */
const turnMs = 5
/** A gentle backtest rests four times as long as it worked: it takes a fifth of a core, reads included. */
const restPerWork = 4
/** A rest is never longer (ms), however long the work was: Postgres may be slow, and the lease is 30 s. */
const longestRestMs = 5_000
/** How often (ms) a rest looks whether the worker shuts down. */
const lookEveryMs = 100

/**
 * The turns of one slice of a backtest:
 *
 *   work (5 ms, or one costly event) ─▶ rest ─▶ work … ─▶ over: its time has passed, or its worker shuts down
 *
 * It rests after each turn, and not only after the slice, so that nearly all work and rests lie within the time of the slice, long before its
 * lease. The last rest comes after the slice is stored. A rest ends where the worker shuts down.
 */
export class Turns {
  readonly #pace: BacktestPace
  readonly #restsAtEnd: boolean
  readonly #isStopping: () => boolean
  readonly #endAt: number
  #restedAt = performance.now()

  /**
   * @param ms how long the slice may take, rests included
   * @param restsAtEnd all rests come after the slice is stored
   */
  constructor(pace: BacktestPace, ms: number, isStopping: () => boolean, restsAtEnd = false) {
    this.#pace = pace
    this.#restsAtEnd = restsAtEnd
    this.#isStopping = isStopping
    this.#endAt = this.#restedAt + ms
  }

  get isDue(): boolean {
    return !this.#restsAtEnd && performance.now() - this.#restedAt >= turnMs
  }

  get isOver(): boolean {
    return this.#isStopping() || performance.now() >= this.#endAt
  }

  async rest(): Promise<void> {
    if (this.#pace === 'gentle') await this.#pause((performance.now() - this.#restedAt) * restPerWork)
    this.#restedAt = performance.now()
  }

  async #pause(ms: number): Promise<void> {
    const endAt = performance.now() + Math.min(ms, longestRestMs)
    for (let left = ms; left > 0 && !this.#isStopping(); left = endAt - performance.now())
      await pause(Math.min(left, lookEveryMs))
  }
}
