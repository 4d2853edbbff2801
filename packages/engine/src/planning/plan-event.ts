import type { Given } from '../results/assumed-result.js'
import { Evaluation, type WorkLimits } from '../work/evaluation.js'
import type { WorkBudget } from '../work/work-budget.js'
import type { CompiledRule } from './compile-rule.js'
import { findOutranked, type Grouped, hasGroups } from './first-match.js'
import { indexRules } from './rule-index.js'
import { aloneIn, planActions, planNothing, type RulePlan, ruleHolds } from './run.js'

/** A rule of an event's type. `compiled` is a fault if a saved definition does not compile any more. */
export interface RuleToPlan extends Grouped {
  readonly compiled: CompiledRule | { readonly fault: string }
}

export interface RulePlanInEvent extends RulePlan {
  /** The index of the rule of its group that runs instead. */
  readonly outrankedBy?: number
}

/**
 * What each of these rules would do for one event. As at a worker, their conditions share the work that one event may cost, only the first
 * rule of a group runs, and each execution has work of its own. One plan at a time: all of them together may be large.
 *
 * @param rules in creation order
 * @param now epoch ms
 * @param given what the calls of each rule are assumed to record
 */
export function* planEvent(
  rules: readonly RuleToPlan[],
  data: unknown,
  now: number,
  limits?: WorkLimits,
  budget?: WorkBudget,
  given?: Given,
): Generator<RulePlanInEvent> {
  const { matched, faults } = evaluateRules(rules, data, new Evaluation(now, limits, budget))
  const outranked = hasGroups(rules) ? findOutranked(rules, matched) : undefined
  const matches = new Set(matched)
  for (const [index, { compiled }] of rules.entries()) {
    const outrankedBy = outranked?.get(index)
    const fault = faults.get(index) ?? null
    if (outrankedBy !== undefined) yield { conditionsPassed: true, actions: [], outrankedBy }
    else if (fault !== null || !matches.has(index) || 'fault' in compiled) yield planNothing({ fault })
    else
      yield planActions(
        compiled,
        aloneIn(compiled, data),
        now,
        new Evaluation(now, limits, budget),
        [],
        given,
      )
  }
}

const always = { conditions: [] }

/** @returns the indexes of the rules that matched, or could not be evaluated, and why not */
function evaluateRules(rules: readonly RuleToPlan[], data: unknown, evaluation: Evaluation) {
  const matched: number[] = []
  const faults = new Map<number, string>()
  const { findCandidates } = indexRules(
    rules.map(({ compiled }) => ('fault' in compiled ? always : compiled)),
  )
  for (const index of findCandidates(data)) {
    const { compiled } = rules[index] as RuleToPlan
    const isFaulty = 'fault' in compiled
    const holds = !isFaulty && ruleHolds(compiled, data, evaluation)
    const fault = isFaulty ? compiled.fault : evaluation.fault
    if (!holds && fault !== null) faults.set(index, fault)
    if (holds || fault !== null) matched.push(index)
  }
  return { matched, faults }
}
