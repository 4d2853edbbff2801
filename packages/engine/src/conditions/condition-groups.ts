import type { ConditionTrace } from '../results/outcome.js'
import type { Evaluation } from '../work/evaluation.js'
import type { CompiledCondition } from './compiled-condition.js'

export function compileGroup(
  group: 'all' | 'any' | 'not',
  children: readonly CompiledCondition[],
): CompiledCondition {
  const combine = combiners[group]
  return {
    holds: (data, evaluation) => combine(children, (child) => child.holds(data, evaluation)),
    explain: (data, evaluation, spare) => ({
      group,
      ...explainAll(group, children, data, evaluation, spare),
    }),
    equalities: group === 'all' ? children.flatMap((child) => child.equalities) : [],
  }
}

/**
 * Explains the conditions of a group. Those after the one that decides are evaluated by themselves: what they cost must not make a later
 * clause fail that was evaluated.
 */
export function explainAll(
  group: 'all' | 'any' | 'not',
  conditions: readonly CompiledCondition[],
  data: unknown,
  evaluation: Evaluation,
  spare: Evaluation,
): { children: ConditionTrace[]; verdict: boolean } {
  let isDecided = false
  let isEvaluated = true
  const children = conditions.map((condition) => {
    if (isDecided) return condition.explain(data, spare, spare)
    const trace = condition.explain(data, evaluation, spare)
    isEvaluated = evaluation.overrun === null
    isDecided = trace.verdict === (group !== 'all')
    return trace
  })
  // The opposite of a clause that was not evaluated is not known either.
  return { children, verdict: isEvaluated && combiners[group](children, (trace) => trace.verdict) }
}

type Combine = <Child>(children: readonly Child[], holds: (child: Child) => boolean) => boolean

const combiners: Record<'all' | 'any' | 'not', Combine> = {
  all: (children, holds) => children.every(holds),
  any: (children, holds) => children.some(holds),
  not: (children, holds) => !children.some(holds),
}
