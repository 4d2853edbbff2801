import { Evaluation, type WorkLimits } from './evaluation.js'
import { indexRules } from './rule-index.js'
import { type CompiledRule, planActions, planNothing, type RulePlan, ruleHolds } from './run.js'
import type { WorkBudget } from './work-budget.js'

/**
 * What each of these rules would do for one event. As at a worker, their conditions share the work that one event may cost, and each
 * execution has its own. One plan at a time: all of them together may be large.
 *
 * @param now epoch ms
 */
export function* planEvent(
  rules: readonly CompiledRule[],
  data: unknown,
  now: number,
  limits?: WorkLimits,
  budget?: WorkBudget,
): Generator<RulePlan> {
  const evaluation = new Evaluation(now, limits, budget)
  const candidates = new Set(indexRules(rules).findCandidates(data))
  for (const [index, rule] of rules.entries()) {
    const holds = candidates.has(index) && ruleHolds(rule, data, evaluation)
    if (holds) yield planActions(rule, data, now, new Evaluation(now, limits, budget))
    else yield planNothing(candidates.has(index) ? evaluation : { fault: null })
  }
}
