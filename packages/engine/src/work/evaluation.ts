import type { WorkBudget } from './work-budget.js'

/**
 * What evaluation may cost, in units: a unit is one step of one instruction of a pattern, some 25 ns in the worst case. Units count what is
 * done, not how long it takes, so a busy machine decides as an idle one does.
 */
export interface WorkLimits {
  /** Units for each rule. */
  rule: number
  /** Units for all rules of an event. */
  event: number
}

/**
 * 25 ms for a rule: only a pattern that was made to be slow, or a condition on thousands of values, needs more. All rules of an event have
 * 150 ms together, which its worker takes from the events of others.
 */
export const defaultWorkLimits: WorkLimits = { rule: 1_000_000, event: 6_000_000 }

/**
 * One evaluation of event data: its moment, and the work that it may still cost. An operator whose work grows with the data charges it
 * before or after it is done. When the work is used up, clauses are false and `overrun` says which limit it was: a verdict that
 * was reached then is void.
 *
 * The limits keep one rule from holding a process that serves others, with any patterns and data.
 */
export class Evaluation {
  /** Epoch ms. The conditions of an action are evaluated later than those of its rule. */
  now: number
  /** The data of the event, while conditions are evaluated for an item of a list: what `root` reads. */
  root: unknown
  /** The limit that was exceeded; null while none was. */
  overrun: keyof WorkLimits | 'question' | null = null
  readonly #limits: WorkLimits
  readonly #budget: WorkBudget | undefined
  #eventLeft: number
  #ruleLeft: number

  /** @param budget of the question that is evaluated for; an event is evaluated for no question */
  constructor(now: number, limits: WorkLimits = defaultWorkLimits, budget?: WorkBudget) {
    this.now = now
    this.#limits = limits
    this.#budget = budget
    this.#eventLeft = limits.event
    this.#ruleLeft = limits.rule
  }

  /** The units that were charged so far. */
  get spent(): number {
    return this.#limits.event - this.#eventLeft
  }

  /** Begins to evaluate the next rule for the same event. */
  beginRule(): void {
    this.#ruleLeft = this.#limits.rule
    this.overrun = null
  }

  /** Whether so much work is left. */
  has(units: number): boolean {
    return units <= this.#ruleLeft && units <= this.#eventLeft && this.#budget?.has(units) !== false
  }

  /** The same for work that may be left out: a rule is evaluated without it, but a question ends where its budget is what is short. */
  reaches(units: number): boolean {
    return units <= this.#ruleLeft && units <= this.#eventLeft && this.#budget?.affords(units) !== false
  }

  /** @returns false, and notes the overrun, where less work than this is left */
  affords(units: number): boolean {
    if (units > this.#ruleLeft) this.overrun = 'rule'
    else if (units > this.#eventLeft) this.overrun ??= 'event'
    else if (this.#budget?.affords(units) === false) this.overrun ??= 'question'
    return this.overrun === null
  }

  charge(units: number): void {
    this.#ruleLeft -= units
    this.#eventLeft -= units
    this.#budget?.charge(units)
  }

  /** Charges work that is about to be done. @returns false where it must not be done */
  spend(units: number): boolean {
    if (!this.affords(units)) return false
    this.charge(units)
    return true
  }

  /** Why a rule could not be evaluated; null where it was. */
  get fault(): string | null {
    if (this.overrun === null) return null
    if (this.overrun === 'question') return this.#budget?.fault ?? 'The request exceeds its evaluation limit'
    const limit = this.#limits[this.overrun]
    return this.overrun === 'rule'
      ? `The rule exceeds the evaluation limit of ${limit} cost units per event`
      : `The rules of this event exceed their shared evaluation limit of ${limit} cost units`
  }
}
