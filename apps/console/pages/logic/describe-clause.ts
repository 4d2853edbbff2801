import { isReference, listPhrases, nameItem, type Quantifier, sayValue } from '@automation/engine'
import { describeHours, isHours } from './editing/hours.js'
import { formatDuration } from './format-time.js'
import { findNearestPath } from './paths.js'
import { show, showControls } from './show.js'

interface Clause {
  /** Of a condition on a list: its path, how many items it has, and how many fulfil it. */
  list?: string
  quantifier?: Quantifier
  items?: number
  held?: number
  item?: number
  /** Of two fields: the value of the other one. */
  other?: unknown
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
export function describeClause(clause: Clause): string {
  const { field = '', operator = '', expected, list, quantifier } = clause
  const words = symbols[operator] ?? operator.replaceAll('_', ' ')
  if (list !== undefined && quantifier !== undefined)
    return `${listPhrases[quantifier]} ${list}${expected === undefined ? '' : ` ${words} ${show(expected)}`}`
  if (isHours(expected)) return describeHours(expected)
  if (isReference(expected)) return `${field} ${words} ${showControls(sayValue(operator, expected, clause))}`
  return expected === undefined ? `${field} ${words}` : `${field} ${words} ${show(expected)}`
}

/** `is 10 (70 short)`, or what is there instead of a missing field. @param paths the paths of the event's data */
export function describeActual(clause: Clause, paths: readonly string[] = []): string {
  const note = clause.note === undefined ? '' : `; ${clause.note}`
  if (clause.list !== undefined) return `${describeItems(clause)}${note}`
  if (isHours(clause.expected))
    return `was ${describeMoment(clause.actual)}${describeDistance(clause)}${note}`
  if ('actual' in clause) return `is ${show(clause.actual)}${describeDistance(clause)}${note}`
  const near = note === '' ? findNearestPath(clause.field ?? '', paths) : undefined
  return near === undefined ? `no such field${note}` : `no such field; did you mean ${near}?`
}

/** `Friday, 18:30`: the engine says all of it, `Friday 2026-11-27T18:30:13.800+01:00`. */
function describeMoment(actual: unknown): string {
  return String(actual).replace(/^(\w+) [^T]*T(\d\d:\d\d).*$/, '$1, $2')
}

function describeItems({ items, held, item }: Clause): string {
  if (items === undefined) return 'no such list'
  const count = `${held ?? 'some'} of ${items} ${items === 1 ? 'item fulfils' : 'items fulfil'} it`
  return item === undefined ? count : `${count}; ${nameItem(item)}:`
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
