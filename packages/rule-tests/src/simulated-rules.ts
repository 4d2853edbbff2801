import {
  type CheckedRule,
  type CompiledRule,
  compileRule,
  Evaluation,
  findOutranked,
  type Grouped,
  hasGroups,
  ruleHolds,
} from '@automation/engine'

/** Rules that were compiled once for many simulations. */
export interface SimulatedRules {
  readonly rules: readonly CheckedRule[]
  readonly compiled: readonly CompiledRule[]
  readonly byTrigger: ReadonlyMap<string, readonly number[]>
  /** The places of the rules in groups; undefined where none is in one. */
  readonly places: readonly Grouped[] | undefined
}

export function prepareRules(rules: readonly CheckedRule[]): SimulatedRules {
  const byTrigger = new Map<string, number[]>()
  rules.forEach(({ trigger, isActive }, index) => {
    if (isActive === false) return
    const known = byTrigger.get(trigger)
    if (known === undefined) byTrigger.set(trigger, [index])
    else known.push(index)
  })
  const places = rules.map(({ group = null, order = null }) => ({ group, order }))
  return {
    rules,
    compiled: rules.map(compileRule),
    byTrigger,
    places: hasGroups(places) ? places : undefined,
  }
}

/** The rules that run for an event. One that needs too much work does nothing, but comes first in its group as if it had matched. */
export function findRunning(
  { rules, compiled, byTrigger, places }: SimulatedRules,
  event: { type: string; at: number; data: object; for?: string | undefined },
) {
  const { type, at, data, for: name } = event
  const evaluation = new Evaluation(at)
  const running: number[] = []
  const matched: number[] = []
  for (const index of byTrigger.get(type) ?? []) {
    if (name !== undefined && rules[index]?.name !== name) continue
    const holds = ruleHolds(compiled[index] as CompiledRule, data, evaluation)
    if (holds) running.push(index)
    if (holds || evaluation.fault !== null) matched.push(index)
  }
  if (places === undefined) return { running, losers: [] }
  const winners = findOutranked(places, matched)
  const losers = Array.from(winners, ([rule, by]) => ({ rule, by }))
  return { running: running.filter((index) => !winners.has(index)), losers }
}
