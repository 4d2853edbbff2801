import { sayComparison, sayConstant } from '../conditions/say-comparison.js'
import type { ClauseTrace, ConditionTrace } from '../results/outcome.js'
import { isReference, itemItself, readReference } from '../values/value-reference.js'
import type { NearestChange } from './why.js'

/**
 * Says with which data a rule would have matched. The nearest value that was found (80.01, or "DEDE" for "not DE") is one that no event ever has, so
 * where one condition decides about the field, its words stand here: `score is above 80`.
 *
 * @param traces the conditions of the rule, as they were evaluated
 */
export function describeChange(change: readonly NearestChange[], traces: readonly ConditionTrace[]): string {
  const clauses = traces.flatMap((trace) => listClauses(trace))
  const fields = new Set(change.map(({ field }) => field))
  return change
    .map(({ field, to }) => {
      const [only, ...others] = clauses.flatMap((clause) => readPlace(clause, field))
      const subject = only?.subject ?? field
      if (only === undefined || others.length > 0)
        return to === null ? `${subject} is missing` : `${subject} is ${sayConstant('', to)}`
      const { operator, expected, verdict } = only.clause
      // The other field may have to change, too.
      const isKnown = only.isSeen && !(isReference(expected) && fields.has(readReference(expected).text))
      const words = sayComparison(subject, operator, expected, isKnown ? only.clause : undefined)
      return verdict ? `not (${words})` : words
    })
    .join(' and ')
}

interface Traced {
  readonly clause: ClauseTrace
  /** Of a clause on the items of a list: its path, and the item that it was traced for. */
  readonly list?: string
  readonly item?: number | undefined
}

function listClauses(trace: ConditionTrace): Traced[] {
  if ('group' in trace && trace.group) return (trace.children ?? []).flatMap(listClauses)
  if (!('list' in trace) || trace.list === undefined) return [{ clause: trace as ClauseTrace }]
  const { list, item, conditions = [] } = trace
  return conditions.flatMap(listClauses).map(({ clause }) => ({ clause, list, item }))
}

/** How the field of a change is called, if the clause is about it: `qty of the first of items` for `items[0].qty`. */
function readPlace({ clause, list, item }: Traced, field: string) {
  if (list === undefined) return clause.field === field ? [{ clause, subject: field, isSeen: true }] : []
  if (!field.startsWith(`${list}[`)) return []
  const [, index = '', path = itemItself] = /^(\d+)\](?:\.(.+))?$/s.exec(field.slice(list.length + 1)) ?? []
  if (index === '' || path !== clause.field) return []
  const place = `${nameItem(Number(index))} of ${list}`
  const subject = path === itemItself ? place : `${path} of ${place}`
  // The other field of another item may have another value.
  return [{ clause, subject, isSeen: Number(index) === item }]
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth']

/** `the first`, `item 6`. */
export function nameItem(index: number): string {
  const ordinal = ordinals[index]
  return ordinal === undefined ? `item ${index + 1}` : `the ${ordinal}`
}
