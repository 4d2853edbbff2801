import { setTimeout as pause } from 'node:timers/promises'
import type { BacktestPace } from '@automation/rules'

/** How long (ms) a gentle backtest works before it rests; an event that takes longer is followed by a rest. */
const turnMs = 5
/** A gentle backtest rests four times as long as it worked: it takes a fifth of a core, reads included. */
const restShare = 4

/**
 * The turns of one slice of a backtest:
 *
 *   work (5 ms, or one costly event) ─▶ rest ─▶ work … ─▶ over: its time has passed, or its worker shuts down
 *
 * It rests after each turn, and not after the slice, so that work and rests end in the time of the slice, long before its lease.
 */
export class Turns {
  readonly #pace: BacktestPace
  readonly #isStopping: () => boolean
  readonly #endAt: number
  #restedAt = performance.now()

  /** @param ms how long the slice may take, rests included */
  constructor(pace: BacktestPace, ms: number, isStopping: () => boolean) {
    this.#pace = pace
    this.#isStopping = isStopping
    this.#endAt = this.#restedAt + ms
  }

  get isDue(): boolean {
    return performance.now() - this.#restedAt >= turnMs
  }

  get isOver(): boolean {
    return this.#isStopping() || performance.now() >= this.#endAt
  }

  async rest(): Promise<void> {
    if (this.#pace === 'gentle') await pause((performance.now() - this.#restedAt) * restShare)
    this.#restedAt = performance.now()
  }
}
