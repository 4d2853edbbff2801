import type { Change, ConditionTrace } from '@automation/client'
import { describeClause } from './describe-clause.js'
import { show } from './show.js'

interface Clause {
  field: string
  operator: string
  expected?: unknown
}

/** Operators that one value fulfils; all others are fulfilled by many, and a value would look like a condition of its own. */
const exact: ReadonlySet<string> = new Set([
  'equals',
  'in',
  'exists',
  'contains',
  'starts_with',
  'ends_with',
  'matches',
])

/**
 * The smallest change with which a rule would have matched, in words: `country not in ["DE"] and score > 80`. The engine found a value that
 * fits; where one clause alone asks for it, the clause says more than the value.
 */
export function describeChange(change: readonly Change[], conditions: readonly ConditionTrace[]): string {
  const clauses = listClauses(conditions, true)
  return change
    .map(({ field, to }) => {
      const asked = clauses.filter((one) => one.clause.field === field)
      const [only] = asked
      if (asked.length === 1 && only?.isAsked && !exact.has(only.clause.operator))
        return describeClause(only.clause)
      return to === null ? `${field} missing` : `${field} = ${show(to)}`
    })
    .join(' and ')
}

/** All clauses, and whether the rule asks for each as it stands, and not for its opposite. */
function listClauses(
  traces: readonly ConditionTrace[],
  isAsked: boolean,
): { clause: Clause; isAsked: boolean }[] {
  return traces.flatMap((trace) =>
    'group' in trace && trace.group !== undefined
      ? listClauses(trace.children ?? [], trace.group === 'not' ? !isAsked : isAsked)
      : [{ clause: trace as Clause, isAsked }],
  )
}
