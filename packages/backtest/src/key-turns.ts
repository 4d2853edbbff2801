import type { BacktestSubject } from './backtest-subject.js'
import { InOrder, type Matched, type SavedOrder } from './in-order.js'
import { findWarmUpMs, noteKeys } from './key-notes.js'
import type { TestedEvent } from './tested-event.js'

export interface SavedTurns {
  order: SavedOrder
  /** After which id the events before the range are still to be added; undefined: all were. */
  warmUp?: { after: string | null }
}

/** When the events of a subject with `perKey` have their turn: those before the range come first, and all of them in the order of acceptance. */
export class KeyTurns {
  readonly #subject: BacktestSubject
  readonly #warmUpMs: number
  readonly #order: InOrder
  #warmUp: SavedTurns['warmUp']

  private constructor(subject: BacktestSubject, warmUpMs: number, saved: SavedTurns | undefined) {
    this.#subject = subject
    this.#warmUpMs = warmUpMs
    this.#order = new InOrder(saved?.order)
    this.#warmUp = saved === undefined && warmUpMs > 0 ? { after: null } : saved?.warmUp
  }

  /** @returns undefined where no definition has `perKey` */
  static of(subject: BacktestSubject, saved: SavedTurns | undefined): KeyTurns | undefined {
    const warmUpMs = findWarmUpMs(subject)
    return warmUpMs === undefined ? undefined : new KeyTurns(subject, warmUpMs, saved)
  }

  /** What is to be added before the range (epoch ms, and the last id that was added); undefined: nothing more. */
  get warmUp(): { from: number; to: number; after: string | null } | undefined {
    const { from } = this.#subject
    return this.#warmUp && { ...this.#warmUp, from: from - this.#warmUpMs, to: from }
  }

  /** @param end the last id that was added; undefined: all were */
  passWarmUp(end: string | undefined): void {
    this.#warmUp = end === undefined ? undefined : { after: end }
  }

  isInRange({ acceptedAt }: TestedEvent): boolean {
    return acceptedAt >= this.#subject.from
  }

  /** @returns those whose turn it is. Ticks are generated in order */
  add(matched: Matched): Matched[] {
    return matched.event.isGenerated ? [matched] : this.#order.add(matched)
  }

  drain(): Matched[] {
    return this.#order.drain()
  }

  /** What the report assumes, and what it lacks. */
  notes(forgotten: number, historyFrom: number | null): string[] {
    return noteKeys(this.#subject, this.#warmUpMs, { forgotten, late: this.#order.late, historyFrom })
  }

  save(): SavedTurns {
    return { order: this.#order.save(), ...(this.#warmUp && { warmUp: this.#warmUp }) }
  }
}
