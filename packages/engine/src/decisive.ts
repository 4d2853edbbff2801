import type { ConditionTrace } from './outcome.js'
import type { Clause, Condition } from './rule.js'

/** A clause of a rule, and where it stands, such as `conditions[0].any[1]`. */
export interface PlacedClause {
  readonly path: string
  readonly clause: Clause
  readonly verdict: boolean
}

/** How many sets are compared at each group: the smallest is exact, the others are for findChange. */
const maxSets = 16

/**
 * Finds sets of clauses that turn the verdict of a rule when each of them turns, the smallest first. The first one is exact: each clause is its
 * own, so a group needs the sum of its children or the least of them.
 *
 *   all  holds: the least of its children      fails: all that fail
 *   any  holds: all that hold                  fails: the least of its children
 *   not  as its child
 *
 * @returns no set where nothing turns the verdict: a rule without conditions
 */
export function findDecisive(
  conditions: readonly Condition[],
  traces: readonly ConditionTrace[],
): PlacedClause[][] {
  return turnGroup('all', conditions, traces, (index) => `conditions[${index}]`)
}

function turnCondition(condition: Condition, trace: ConditionTrace, path: string): PlacedClause[][] {
  if (!('group' in trace)) return [[{ path, clause: condition as Clause, verdict: trace.verdict }]]
  const { children } = trace
  if ('all' in condition) return turnGroup('all', condition.all, children, (index) => `${path}.all[${index}]`)
  if ('any' in condition) return turnGroup('any', condition.any, children, (index) => `${path}.any[${index}]`)
  const [child] = children
  return 'not' in condition && child !== undefined ? turnCondition(condition.not, child, `${path}.not`) : []
}

function turnGroup(
  group: 'all' | 'any',
  conditions: readonly Condition[],
  traces: readonly ConditionTrace[],
  pathOf: (index: number) => string,
): PlacedClause[][] {
  const holds = group === 'all' ? traces.every(isHeld) : traces.some(isHeld)
  const turnChild = (index: number) =>
    turnCondition(conditions[index] as Condition, traces[index] as ConditionTrace, pathOf(index))
  const isOneEnough = holds === (group === 'all')
  if (isOneEnough) return smallest(traces.flatMap((_, index) => turnChild(index)))
  // `any` that holds: all that hold have to fail. `all` that fails: all that fail have to hold.
  let sets: PlacedClause[][] = [[]]
  for (const [index, trace] of traces.entries()) {
    if (trace.verdict !== holds) continue
    const turns = turnChild(index)
    sets = smallest(sets.flatMap((set) => turns.map((turn) => [...set, ...turn])))
  }
  return sets
}

function isHeld({ verdict }: ConditionTrace): boolean {
  return verdict
}

/** The sort is stable: of sets of one size, the first of the rule comes first. */
function smallest(sets: PlacedClause[][]): PlacedClause[][] {
  return sets.sort((left, right) => left.length - right.length).slice(0, maxSets)
}
