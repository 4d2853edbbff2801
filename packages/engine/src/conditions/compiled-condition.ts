import type { ConditionTrace } from '../results/outcome.js'
import type { Evaluation } from '../work/evaluation.js'

/** A compiled condition: `holds` is the fast check, `explain` gives the same verdict with its reasons. Neither throws. */
export interface CompiledCondition {
  holds(data: unknown, evaluation: Evaluation): boolean
  /**
   * Where the work is used up, a clause has a warning, and it and its groups are false.
   *
   * @param evaluation of what `holds` evaluates, too
   * @param spare of the clauses that `holds` does not reach
   */
  explain(data: unknown, evaluation: Evaluation, spare: Evaluation): ConditionTrace
  /** What has to be so for the condition to hold, each of them. There may be more to it. */
  readonly equalities: readonly Equality[]
}

/** The value at a path equals one of a few values. */
export interface Equality {
  readonly field: string
  readonly wanted: readonly unknown[]
}
