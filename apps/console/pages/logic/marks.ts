import type { ConditionTrace } from '@automation/client'

/** What a condition contributes to the verdict of its rule. Colour by the bare verdict would mislead under a `not`. */
export type Mark = 'stops' | 'passes' | 'irrelevant'

export interface MarkedNode {
  trace: ConditionTrace
  mark: Mark
  children: MarkedNode[]
}

/** Marks the conditions of a rule, which must all hold. */
export function markConditions(traces: readonly ConditionTrace[]): MarkedNode[] {
  return traces.map((trace) => markNode(trace, true, true))
}

/** @param wanted the verdict that would let the rule run: false below a `not` */
function markNode(trace: ConditionTrace, wanted: boolean, isRelevant: boolean): MarkedNode {
  const isMet = trace.verdict === wanted
  const mark: Mark = !isRelevant ? 'irrelevant' : isMet ? 'passes' : 'stops'
  if ('list' in trace && trace.list !== undefined) {
    // What its item lacks says why it stops the rule only where an item has to fulfil it.
    const { quantifier, conditions = [] } = trace
    const asksItem = mark === 'stops' && wanted && (quantifier === 'some' || quantifier === 'every')
    return { trace, mark, children: conditions.map((child) => markNode(child, true, asksItem)) }
  }
  if (!('group' in trace) || trace.group === undefined) return { trace, mark, children: [] }
  const { group, children = [] } = trace
  if (group === 'not')
    return { trace, mark, children: children.map((child) => markNode(child, !wanted, isRelevant)) }
  // By De Morgan, "not any" needs the opposite of each child, as "all" needs each child.
  const needsEach = (group === 'all') === wanted
  return {
    trace,
    mark,
    children: children.map((child) => {
      const matters = needsEach || !isMet || child.verdict === wanted
      return markNode(child, wanted, isRelevant && matters)
    }),
  }
}

/** The first clause that stops the rule, for one line in a list; undefined where the rule runs. */
export function findStop(nodes: readonly MarkedNode[]): MarkedNode | undefined {
  for (const node of nodes) {
    if (node.mark !== 'stops') continue
    return findStop(node.children) ?? node
  }
  return undefined
}
