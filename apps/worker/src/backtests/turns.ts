import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { BacktestPace } from '@automation/rules'

/** How long (ms) a backtest holds the event loop before live work has a turn; an event that takes longer is followed by one. */
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
  readonly #signal: AbortSignal
  readonly #endAt: number
  #restedAt = performance.now()

  /** @param ms how long the slice may take, rests included */
  constructor(pace: BacktestPace, ms: number, signal: AbortSignal) {
    this.#pace = pace
    this.#signal = signal
    this.#endAt = this.#restedAt + ms
  }

  get isDue(): boolean {
    return performance.now() - this.#restedAt >= turnMs
  }

  get isOver(): boolean {
    return this.#signal.aborted || performance.now() >= this.#endAt
  }

  async rest(): Promise<void> {
    const worked = performance.now() - this.#restedAt
    if (this.#pace === 'full') await nextTurn()
    else await pause(worked * restShare, undefined, { signal: this.#signal }).catch(() => {})
    this.#restedAt = performance.now()
  }
}
