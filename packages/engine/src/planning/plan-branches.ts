import { type Given, recordOrAssume } from '../results/assumed-result.js'
import { expiredChoice } from '../results/decision.js'
import { Evaluation, type WorkLimits } from '../work/evaluation.js'
import type { WorkBudget } from '../work/work-budget.js'
import type { CompiledRule } from './compile-rule.js'
import { isFailure } from './progress.js'
import { isReady, type PlannedAction, planActions } from './run.js'

/** What a rule would do after its decision, if this is chosen. */
export interface Branch {
  /** An option, or `expired`: nobody decided in time. */
  readonly choice: string
  /** The actions after the WAIT. */
  readonly actions: readonly PlannedAction[]
}

/**
 * The choices of a decision: its options, and that nobody decides in time. None where nobody is asked, and where nothing follows.
 *
 * @param planned its actions, as they are planned without a decision: one before the WAIT that cannot be done ends the execution
 */
export function listChoices(
  rule: CompiledRule,
  planned: readonly PlannedAction[],
  given?: Given,
): readonly string[] {
  const [index] = rule.declared.decisions
  if (index === undefined || index === rule.actions.length - 1) return []
  const asked = planned[index]
  if (asked === undefined || !isReady(asked)) return []
  const isStopped = planned
    .slice(0, index)
    .some((action) => !action.of.continueOnError && isFailure(recordOrAssume(undefined, action, given)))
  return isStopped ? [] : [...rule.declared.links.options, expiredChoice]
}

/**
 * What would follow one of them, as planActions plans it: chosen at once, for an unknown reason.
 *
 * @param data as the actions read it: aloneIn, or withCollected
 */
export function planBranch(
  rule: CompiledRule,
  choice: string,
  { data, now, limits, budget, given }: Situation,
): Branch {
  const decision = choice === expiredChoice ? undefined : { choice, reason: unknownReason }
  const evaluation = new Evaluation(now, limits, budget)
  const { actions } = planActions(rule, data, now, evaluation, [], { ...given, decision })
  return { choice, actions: actions.slice((rule.declared.decisions[0] ?? 0) + 1) }
}

interface Situation {
  data: unknown
  /** Epoch ms. */
  now: number
  limits?: WorkLimits | undefined
  budget?: WorkBudget | undefined
  given?: Given | undefined
}

/** As a link, it stands for itself. */
const unknownReason = '{{decision.reason}}'
