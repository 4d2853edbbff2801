/** What one question may cost: units of work (evaluation.ts) and, where there is a clock, ms. */
export interface WorkBounds {
  units: number
  ms: number
}

/** After so many units (some 3 ms) the clock is read. */
const unitsPerReading = 100_000

/**
 * The work of one question, which may be about many rules, events and moments: all evaluations that answer it charge the same budget. Beyond it
 * the answer has to be shorter. The engine has no clock: who has one passes it.
 */
export class WorkBudget {
  /** The bound that was exceeded; null while none was. */
  overrun: keyof WorkBounds | null = null
  readonly #bounds: WorkBounds
  readonly #readClock: (() => number) | undefined
  readonly #startedAt: number
  #spent = 0
  #readAt = 0

  /** @param readClock ms since any moment; without it `ms` bounds nothing */
  constructor(bounds: WorkBounds, readClock?: () => number) {
    this.#bounds = bounds
    this.#readClock = readClock
    this.#startedAt = readClock?.() ?? 0
  }

  charge(units: number): void {
    this.#spent += units
    if (this.#spent > this.#bounds.units) this.overrun ??= 'units'
    else if (this.#spent - this.#readAt > unitsPerReading) this.#look()
  }

  /** Whether so much work is left. */
  has(units: number): boolean {
    return this.overrun === null && this.#spent + units <= this.#bounds.units
  }

  /** Whether so much work is left. Where it is not, the budget is over. */
  affords(units: number): boolean {
    if (!this.has(units)) this.overrun ??= 'units'
    return this.overrun === null
  }

  /** Whether it is used up by now. */
  get isOver(): boolean {
    this.#look()
    return this.overrun !== null
  }

  /** Whether more than this share of it is used up. */
  isBeyond(share: number): boolean {
    const { units, ms } = this.#bounds
    return this.isOver || this.#spent > share * units || this.#elapsedMs() > share * ms
  }

  /** Why the answer is shorter; null where it is not. */
  get fault(): string | null {
    const { units, ms } = this.#bounds
    if (this.overrun === null) return null
    return this.overrun === 'units'
      ? `The request exceeds the evaluation limit of ${units} cost units`
      : `The evaluation timed out after ${ms} ms`
  }

  #look(): void {
    this.#readAt = this.#spent
    if (this.#elapsedMs() > this.#bounds.ms) this.overrun ??= 'ms'
  }

  #elapsedMs(): number {
    return this.#readClock === undefined ? 0 : this.#readClock() - this.#startedAt
  }
}

/** Of a question that nobody else waits for. */
export function unlimitedBudget(): WorkBudget {
  return new WorkBudget({ units: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY })
}
