import { isListCondition, itemPartsOf, type Leaf, type Part, partsOf } from '../conditions/condition-parts.js'
import type { ConditionTrace, ListTrace } from '../results/outcome.js'
import type { Condition } from '../rule.js'

/** A clause or a list of a rule, and where it stands, such as `conditions[0].any[1]`. */
export interface PlacedClause {
  readonly path: string
  readonly clause: Leaf
  readonly verdict: boolean
  /** Of a clause on an item of a list: the path of the item. */
  readonly item?: string
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
 *   list as the conditions on its nearest item, if one item is enough; else the list counts as one clause
 *
 * @returns no set where nothing turns the verdict: a rule without conditions
 */
export function findDecisive(
  conditions: readonly Condition[],
  traces: readonly ConditionTrace[],
): PlacedClause[][] {
  const parts = conditions.map((condition, index) => ({ condition, place: `conditions[${index}]` }))
  return turnGroup('all', parts, traces, '')
}

function turnCondition(condition: Condition, trace: ConditionTrace, path: string): PlacedClause[][] {
  if ('list' in trace) return turnList(condition, trace, path)
  const parts = partsOf(condition)
  if (!('group' in trace)) return [[{ path, clause: condition as Leaf, verdict: trace.verdict }]]
  const { group, children } = trace
  if (group !== 'not') return turnGroup(group, parts, children, path)
  const [part, child] = [parts[0], children[0]]
  return part && child ? turnCondition(part.condition, child, path + part.place) : []
}

/** Whether one item is enough to turn the result of a list, in the trace that shows this item. */
function isTurnedByItem({ quantifier, verdict, items = 0, held }: ListTrace): boolean {
  if (quantifier === 'count') return false
  if (quantifier === 'every') return !verdict && held === items - 1
  return verdict === (quantifier === 'none') || held === 1
}

function turnList(condition: Condition, trace: ListTrace, path: string): PlacedClause[][] {
  const { item, conditions, list, verdict } = trace
  const whole: PlacedClause[][] = [[{ path, clause: condition as Leaf, verdict }]]
  if (item === undefined || conditions === undefined || !isTurnedByItem(trace)) return whole
  if (!isListCondition(condition)) return whole
  return turnGroup('all', itemPartsOf(condition), conditions, path).map((set) =>
    set.map((placed) => ({ ...placed, item: `${list}[${item}]` })),
  )
}

function turnGroup(
  group: 'all' | 'any',
  parts: readonly Part[],
  traces: readonly ConditionTrace[],
  path: string,
): PlacedClause[][] {
  const holds = group === 'all' ? traces.every(isHeld) : traces.some(isHeld)
  const turnChild = (index: number) => {
    const { condition, place } = parts[index] as Part
    return turnCondition(condition, traces[index] as ConditionTrace, path + place)
  }
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
