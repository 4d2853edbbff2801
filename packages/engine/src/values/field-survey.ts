import { Type } from 'typebox'
import { cutText } from '../texts/cut-text.js'
import { joinPath, parsePath } from './path.js'

export const FieldKind = Type.Enum(['text', 'number', 'boolean', 'list', 'object', 'null'], {
  title: 'FieldKind',
})
export type FieldKind = Type.Static<typeof FieldKind>

/** What events have at one path. */
export const ObservedField = Type.Object(
  {
    path: Type.String({ description: 'Path of the field as conditions name it, such as lead.tags[0]' }),
    kinds: Type.Array(FieldKind, { description: 'Most frequent first' }),
    kindCounts: Type.Partial(Type.Record(FieldKind, Type.Integer()), {
      description: 'Number of events that have a value of each kind',
    }),
    share: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of the events that have the field, from 0 to 1',
    }),
    distinct: Type.Integer({
      description: 'Number of different texts, numbers and booleans. Those in a list count for the list.',
    }),
    isDistinctAtLeast: Type.Boolean({ description: 'true if there are more values than were counted' }),
    top: Type.Array(
      Type.Object(
        {
          value: Type.Unknown({ description: 'A text of at most 200 characters' }),
          count: Type.Integer(),
        },
        { title: 'FrequentValue' },
      ),
      { description: 'The ten most frequent values' },
    ),
    smallest: Type.Optional(Type.Number()),
    largest: Type.Optional(Type.Number()),
  },
  { title: 'ObservedField' },
)
export type ObservedField = Type.Static<typeof ObservedField>

const maxPaths = 500
/** Paths have at most so many keys. */
export const maxSurveyDepth = 8
/** Objects in a list are looked into as far as this. */
const maxItems = 5
const maxListValues = 100
const maxValues = 1_000
const maxValuesInAll = 50_000
/** Longer texts are cut. */
export const maxSurveyText = 200
const topCount = 10

interface Field {
  events: number
  /** The last event that had it: a list of objects may have it several times. */
  lastEvent: number
  kinds: Map<FieldKind, number>
  values: Map<string | number | boolean, number>
  isDistinctAtLeast: boolean
  smallest: number
  largest: number
}

/** A survey so far, to be continued elsewhere. It has maps, so it is no JSON. */
export interface SurveyState {
  fields: Map<string, Field>
  events: number
  values: number
  hasMorePaths: boolean
}

/** Surveys the data of events: which paths there are, and what is at them. Bounded, whatever the data. */
export class FieldSurvey {
  readonly #fields: Map<string, Field>
  #events: number
  #values: number
  /** More paths than were surveyed. */
  hasMorePaths: boolean

  /** @param state of the survey that it continues */
  constructor({ fields, events, values, hasMorePaths }: SurveyState = emptySurvey()) {
    this.#fields = fields
    this.#events = events
    this.#values = values
    this.hasMorePaths = hasMorePaths
  }

  get state(): SurveyState {
    return {
      fields: this.#fields,
      events: this.#events,
      values: this.#values,
      hasMorePaths: this.hasMorePaths,
    }
  }

  get events(): number {
    return this.#events
  }

  add(data: unknown): void {
    this.#events++
    this.#visitChildren('', data, 0)
  }

  /** The fields of most events first. */
  list(): ObservedField[] {
    return [...this.#fields]
      .sort(([leftPath, left], [rightPath, right]) =>
        left.events === right.events ? (leftPath < rightPath ? -1 : 1) : right.events - left.events,
      )
      .map(([path, field]) => ({
        path,
        kinds: byCount(field.kinds).map(([kind]) => kind),
        kindCounts: Object.fromEntries(byCount(field.kinds)),
        share: field.events / this.#events,
        distinct: field.values.size,
        isDistinctAtLeast: field.isDistinctAtLeast,
        top: byCount(field.values)
          .slice(0, topCount)
          .map(([value, count]) => ({ value, count })),
        ...(field.smallest <= field.largest && { smallest: field.smallest, largest: field.largest }),
      }))
  }

  #visitChildren(path: string, value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null || depth === maxSurveyDepth) return
    if (Array.isArray(value)) {
      if (path === '') return
      for (const [index, item] of value.slice(0, maxItems).entries())
        if (typeof item === 'object' && item !== null) this.#visit(`${path}[${index}]`, item, depth + 1)
      return
    }
    for (const key of Object.keys(value)) {
      const child = joinPath(path, key)
      if (child !== undefined) this.#visit(child, (value as Record<string, unknown>)[key], depth + 1)
    }
  }

  #visit(path: string, value: unknown, depth: number): void {
    const field = this.#fields.get(path) ?? this.#create(path)
    if (field === undefined) return
    if (field.lastEvent !== this.#events) field.events++
    field.lastEvent = this.#events
    const kind = kindOf(value)
    field.kinds.set(kind, (field.kinds.get(kind) ?? 0) + 1)
    if (Array.isArray(value)) for (const item of value.slice(0, maxListValues)) this.#countValue(field, item)
    else this.#countValue(field, value)
    this.#visitChildren(path, value, depth)
  }

  /** A key with the syntax of paths cannot be named by a clause. */
  #create(path: string): Field | undefined {
    if (parsePath(path) === undefined) return undefined
    if (this.#fields.size === maxPaths) {
      this.hasMorePaths = true
      return undefined
    }
    const field = {
      events: 0,
      lastEvent: 0,
      kinds: new Map(),
      values: new Map(),
      isDistinctAtLeast: false,
      smallest: Number.POSITIVE_INFINITY,
      largest: Number.NEGATIVE_INFINITY,
    }
    this.#fields.set(path, field)
    return field
  }

  #countValue(field: Field, value: unknown): void {
    if (typeof value === 'number') {
      if (value < field.smallest) field.smallest = value
      if (value > field.largest) field.largest = value
    } else if (typeof value !== 'string' && typeof value !== 'boolean') return
    const shown =
      typeof value === 'string' && value.length > maxSurveyText
        ? cutText(value, maxSurveyText - 1, '…')
        : value
    const count = field.values.get(shown)
    if (count !== undefined) field.values.set(shown, count + 1)
    else if (field.values.size < maxValues && this.#values < maxValuesInAll) {
      field.values.set(shown, 1)
      this.#values++
    } else field.isDistinctAtLeast = true
  }
}

function emptySurvey(): SurveyState {
  return { fields: new Map(), events: 0, values: 0, hasMorePaths: false }
}

function kindOf(value: unknown): FieldKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  switch (typeof value) {
    case 'string':
      return 'text'
    case 'number':
    case 'boolean':
      return typeof value as 'number' | 'boolean'
    default:
      return 'object'
  }
}

function byCount<Key>(counts: Map<Key, number>): [Key, number][] {
  return [...counts].sort(([, left], [, right]) => right - left)
}
