import type { Change, ConditionTrace } from '@automation/client'
import { phrases } from '@automation/engine'
import { show } from './show.js'

/**
 * With which data a rule would have matched. The nearest value that the engine found (80.01, or "DEDE" for "not DE") is one that no event ever
 * has, so where one condition decides about the field, its words stand here: `score is above 80`.
 *
 * @param traces the conditions of the rule, as they were evaluated
 */
export function describeNeed(change: readonly Change[], traces: readonly ConditionTrace[]): string {
  const clauses = traces.flatMap(listClauses)
  return change
    .map(({ field, to }) => {
      const [only, ...others] = clauses.filter((clause) => clause.field === field)
      if (only === undefined || others.length > 0)
        return to === null ? `${field} is missing` : `${field} is ${show(to)}`
      const words = writeClause(only)
      return only.verdict ? `not (${words})` : words
    })
    .join(' and ')
}

/** Not by `describeCondition` of the same package: that one brings the operators, and the drawer of an event needs none of them. */
function writeClause({ field, operator, expected }: TracedClause): string {
  const phrase = `${field} ${phrases[operator] ?? operator.replaceAll('_', ' ')}`
  if (expected === undefined) return phrase
  return Array.isArray(expected)
    ? `${phrase} ${expected.map(show).join(operator.endsWith('between') ? ' and ' : ', ')}`
    : `${phrase} ${show(expected)}`
}

interface TracedClause {
  field: string
  operator: string
  expected?: unknown
  verdict: boolean
}

function listClauses(trace: ConditionTrace): TracedClause[] {
  return 'group' in trace && trace.group
    ? (trace.children ?? []).flatMap(listClauses)
    : [trace as TracedClause]
}
