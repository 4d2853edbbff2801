import {
  describeListEnd,
  findSimilar,
  isIndex,
  maxSurveyDepth,
  type ObservedField,
  parsePath,
} from '@automation/engine'
import { pathKey } from './atoms.js'

/** What the newest events of one type had: the response of GET /api/event-types/:name/fields. */
export interface ObservedFields {
  /** How many events were looked at. */
  readonly events: number
  /** There are more paths than are listed. */
  readonly hasMorePaths: boolean
  readonly fields: readonly ObservedField[]
}

/** Finds what was observed of events of a type; undefined where nothing was. */
export type FindObserved = (type: string) => ObservedFields | undefined

/** To find the nearest of 500 names takes some 100 µs. */
const maxSuggestions = 200

/** The fields of the events of one type, for the clauses of many rules. */
export class SeenFields {
  readonly type: string
  readonly events: number
  readonly #hasMorePaths: boolean
  readonly #fields: ReadonlyMap<string, ObservedField>
  readonly #suggestions = new Map<string, string>()

  constructor(type: string, { events, hasMorePaths, fields }: ObservedFields) {
    this.type = type
    this.events = events
    this.#hasMorePaths = hasMorePaths
    this.#fields = new Map(fields.map((field) => [pathKey(field.path), field]))
  }

  find(path: string): ObservedField | undefined {
    return this.#fields.get(pathKey(path))
  }

  /** Whether no event has the path. False, too, where the survey may not list what is there: deep in the data, and in lists. */
  isUnseen(path: string): boolean {
    if (this.#hasMorePaths || this.find(path) !== undefined) return false
    const keys = parsePath(path) ?? []
    for (let length = 1; length < keys.length; length++) {
      const parent = this.#fields.get(keys.slice(0, length).join('.'))
      if (parent === undefined) return true
      const { list, object } = parent.kindCounts
      if (list !== undefined && !this.#fields.has(keys.slice(0, length + 1).join('.'))) return false
      if (object !== undefined && length === maxSurveyDepth) return false
    }
    return true
  }

  /** Says that a path goes on below a list without an index, if it leads to nothing in all events that have the list. */
  findListEnd(path: string): string | undefined {
    if (this.find(path) !== undefined) return undefined
    const keys = parsePath(path) ?? []
    for (let length = 1; length < keys.length; length++) {
      const holder = this.#fields.get(keys.slice(0, length).join('.'))
      if (holder === undefined) return undefined
      const { list, object } = holder.kindCounts
      if (list === undefined || isIndex(keys[length] as string)) continue
      // An object beside the list may have the path, and not be surveyed as far.
      const isSurveyed = !this.#hasMorePaths && length < maxSurveyDepth
      return object === undefined || isSurveyed ? describeListEnd(keys, length) : undefined
    }
    return undefined
  }

  /** Such as ` Did you mean score (in 99.8 %)?`; empty where no path is near. */
  suggest(path: string): string {
    const known = this.#suggestions.get(path)
    if (known !== undefined) return known
    if (this.#suggestions.size === maxSuggestions) return ''
    const nearest = findSimilar(
      path,
      [...this.#fields.values()].map((field) => field.path),
    )
    const share = nearest === undefined ? undefined : this.find(nearest)?.share
    const suggestion = share === undefined ? '' : ` Did you mean ${nearest} (in ${writePercent(share)})?`
    this.#suggestions.set(path, suggestion)
    return suggestion
  }
}

export function writePercent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`
}

export function writeCount(count: number): string {
  return count.toLocaleString('en-US')
}
