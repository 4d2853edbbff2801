/** What the newest events of one type had: the response of GET /api/event-types/:name/fields. */
export interface ObservedFields {
  /** How many events were looked at. */
  readonly events: number
  readonly fields: readonly ObservedField[]
}

export type ObservedKind = 'text' | 'number' | 'boolean' | 'list' | 'object' | 'null'

/** One path of the data. */
export interface ObservedField {
  readonly path: string
  /** How many events have a value of each kind there. */
  readonly kinds: Readonly<Partial<Record<ObservedKind, number>>>
  /** The share of the events that have it, from 0 to 1. */
  readonly share: number
  /** The number of distinct values. */
  readonly distinct: number
  /** The ten most frequent values, with the number of events. */
  readonly values: readonly { readonly value: unknown; readonly count: number }[]
  readonly smallest: number | null
  readonly largest: number | null
}

/** Finds what was observed of events of a type; undefined where nothing was. */
export type FindObserved = (type: string) => ObservedFields | undefined
