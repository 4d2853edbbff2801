import type { Condition, EventTypeFields } from '@automation/client'
import { compilePath, parsePath, readPath } from '@automation/engine'

type Field = EventTypeFields['fields'][number]

const most = 3
/** A text that has more different values than this is a name, an id or a sentence: it tells one event from all others. */
const maxValues = 20
/** With fewer events nobody knows which texts come again. */
const fewEvents = 5
/** A value that nearly all events have tells nothing. */
const maxShare = 0.95
const word = /^[\p{L}\d_-]{1,24}$/u

/**
 * The conditions that tell an event from the others of its type: where its value is seldom, and one of a few. Numbers become a limit, because
 * nobody means exactly 4800.
 *
 * @param observed the survey of its type
 */
export function proposeConditions(data: object, { events, fields }: EventTypeFields): Condition[] {
  return fields
    .flatMap((field) => proposeOne(data, field, events))
    .sort((left, right) => right.weight - left.weight)
    .slice(0, most)
    .map(({ condition }) => condition as Condition)
}

interface Proposal {
  condition: object
  /** From 0 for a value that all have to 1 for one that no other has. */
  weight: number
}

function proposeOne(data: object, field: Field, events: number): Proposal[] {
  if (!parsePath(field.path)) return []
  const value = readPath(compilePath(field.path), data)
  if (typeof value === 'number') return proposeLimit(field, value)
  if (typeof value !== 'boolean' && !(typeof value === 'string' && word.test(value))) return []
  const isOfFew = !field.isDistinctAtLeast && field.distinct <= maxValues && 2 * field.distinct <= events
  const share = (field.top.find((one) => one.value === value)?.count ?? 0) / Math.max(1, events)
  if (events >= fewEvents && (!isOfFew || share > maxShare)) return []
  if (/(^|[._])id$|Id$/.test(field.path)) return []
  const condition =
    typeof value === 'boolean'
      ? { field: field.path, operator: value ? 'is_true' : 'is_false' }
      : { field: field.path, operator: 'equals', value }
  return [{ condition, weight: 1 - share }]
}

function proposeLimit({ path, smallest, largest }: Field, value: number): Proposal[] {
  if (smallest === undefined || largest === undefined || smallest === largest || value === smallest) return []
  const condition = { field: path, operator: 'greater_than_or_equal', value }
  return [{ condition, weight: (value - smallest) / (largest - smallest) }]
}
