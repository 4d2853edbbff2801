import { findNearestPath } from './paths.js'
import { show } from './show.js'

interface Clause {
  field?: string
  operator?: string
  expected?: unknown
  actual?: unknown
}

const symbols: Record<string, string> = {
  equals: '=',
  not_equals: '≠',
  greater_than: '>',
  greater_than_or_equal: '≥',
  less_than: '<',
  less_than_or_equal: '≤',
}

/** `score > 80`. */
export function describeClause({ field = '', operator = '', expected }: Clause): string {
  const words = symbols[operator] ?? operator.replaceAll('_', ' ')
  return expected === undefined ? `${field} ${words}` : `${field} ${words} ${show(expected)}`
}

/** `is 10 (70 short)`, or what is there instead of a missing field. @param paths the paths of the event's data */
export function describeActual(clause: Clause, paths: readonly string[] = []): string {
  if (!('actual' in clause)) {
    const near = findNearestPath(clause.field ?? '', paths)
    return near === undefined ? 'no such field' : `no such field; did you mean ${near}?`
  }
  return `is ${show(clause.actual)}${distance(clause)}`
}

function distance({ operator = '', expected, actual }: Clause): string {
  const [is, limit] = [Number(actual), Number(expected)]
  if (actual === null || actual === '' || Number.isNaN(is) || Number.isNaN(limit)) return ''
  const round = (value: number) => Number(value.toPrecision(6))
  if (operator.startsWith('greater_than') && is <= limit && is !== limit)
    return ` (${round(limit - is)} short)`
  if (operator.startsWith('less_than') && is >= limit && is !== limit) return ` (${round(is - limit)} over)`
  return ''
}
