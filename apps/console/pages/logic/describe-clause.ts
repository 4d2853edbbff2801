import { formatDuration } from './format-time.js'
import { findNearestPath } from './paths.js'
import { show } from './show.js'

interface Clause {
  field?: string
  operator?: string
  expected?: unknown
  actual?: unknown
  /** What the engine said of the value. */
  note?: string
  distance?: number
  distanceMs?: number
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
  const note = clause.note === undefined ? '' : `; ${clause.note}`
  if ('actual' in clause) return `is ${show(clause.actual)}${describeDistance(clause)}${note}`
  const near = note === '' ? findNearestPath(clause.field ?? '', paths) : undefined
  return near === undefined ? `no such field${note}` : `no such field; did you mean ${near}?`
}

function describeDistance({ operator = '', distance = 0, distanceMs = 0 }: Clause): string {
  if (distanceMs !== 0) return ` (${formatDuration(distanceMs)} off)`
  if (distance === 0) return ''
  const word = operator.startsWith('greater_than')
    ? 'short'
    : operator.startsWith('less_than')
      ? 'over'
      : 'off'
  return ` (${Number(distance.toPrecision(6))} ${word})`
}
