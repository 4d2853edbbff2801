import type { Given } from '../results/assumed-result.js'
import { expiredChoice } from '../results/decision.js'
import { Evaluation, type WorkLimits } from '../work/evaluation.js'
import type { WorkBudget } from '../work/work-budget.js'
import type { CompiledRule } from './compile-rule.js'
import { isReady, type PlannedAction, planActions } from './run.js'

/** What a rule would do after its decision, if this is chosen. */
export interface Branch {
  /** An option, or `expired`: nobody decided in time. */
  readonly choice: string
  /** The actions after the WAIT. */
  readonly actions: readonly PlannedAction[]
}

/**
 * What would follow each choice of a decision, as planActions plans it: chosen at once, for a reason that nobody knows. One branch at a time: all
 * of them together may be large. There is none where nobody is asked, or where nothing follows.
 *
 * @param data as the actions read it: aloneIn, or withCollected
 */
export function* planBranches(
  rule: CompiledRule,
  data: unknown,
  now: number,
  limits?: WorkLimits,
  budget?: WorkBudget,
  given?: Given,
): Generator<Branch> {
  const [index] = rule.declared.decisions
  if (index === undefined || index === rule.actions.length - 1) return
  for (const choice of [...rule.declared.links.options, expiredChoice]) {
    const decision = choice === expiredChoice ? undefined : { choice, reason: unknownReason }
    const evaluation = new Evaluation(now, limits, budget)
    const { actions } = planActions(rule, data, now, evaluation, [], { ...given, decision })
    const asked = actions[index]
    if (asked === undefined || !isReady(asked)) return
    yield { choice, actions: actions.slice(index + 1) }
  }
}

/** As a link, it stands for itself. */
const unknownReason = '{{decision.reason}}'
