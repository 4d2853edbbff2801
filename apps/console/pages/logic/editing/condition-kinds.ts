import type { Condition } from '@automation/client'
import { listPhrases, quantifiers } from '@automation/engine'
import { type Hours, isHours } from './hours.js'

/** A condition that consists of others. */
export interface GroupKind {
  /** The key that makes a condition one of this kind. It holds its conditions, or the path of a list. */
  keyword: string
  /** How it begins in a sentence. */
  words: string
  /** Stands between its conditions. */
  joint: string
  /** It holds one condition, and no list. */
  isSingle?: true
  /** Its conditions are about the items of a list, and stand in `that`. */
  isList?: true
}

/** What the editor can show of groups. A condition of another kind stays as it is, and is edited as JSON. */
export const groupKinds: readonly GroupKind[] = [
  { keyword: 'any', words: 'at least one of these', joint: 'or' },
  { keyword: 'all', words: 'all of these', joint: 'and' },
  { keyword: 'not', words: 'not', joint: 'and', isSingle: true },
]

/** How many items of a list have to fulfil its conditions. */
export const listKinds: readonly GroupKind[] = quantifiers.map((keyword) => ({
  keyword,
  words: listPhrases[keyword],
  joint: 'and',
  isList: true,
}))

export interface Clause {
  field: string
  operator: string
  value?: unknown
}

/** Without a value: an empty text would be one. */
export const emptyClause = { field: '', operator: 'equals' } as Condition
export const emptyList = { some: '', that: [emptyClause] } as Condition

/** A condition on the moment. */
export function isTime(condition: unknown): condition is { time: Hours } {
  if (typeof condition !== 'object' || condition === null) return false
  const { time } = condition as { time?: unknown }
  return Object.keys(condition).length === 1 && isHours(time)
}

const clauseKeys = new Set(['field', 'operator', 'value'])

export function isClause(condition: unknown): condition is Clause {
  if (typeof condition !== 'object' || condition === null) return false
  const { field, operator } = condition as Partial<Clause>
  return (
    typeof field === 'string' &&
    typeof operator === 'string' &&
    Object.keys(condition).every((key) => clauseKeys.has(key))
  )
}

/** Another field of the event, in place of a constant. `root` begins at the event, also within a list. */
export type Reference = { field: string } | { root: string }

export function isReference(value: unknown): value is Reference {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const entries = Object.entries(value)
  const [key, path] = entries[0] ?? ['', undefined]
  return entries.length === 1 && (key === 'field' || key === 'root') && typeof path === 'string'
}

/** @returns undefined for a comparison, and for what the editor does not know */
export function groupKindOf(condition: unknown): GroupKind | undefined {
  if (typeof condition !== 'object' || condition === null) return undefined
  const keys = Object.keys(condition)
  const list = listKinds.find(({ keyword }) => keys.includes(keyword))
  if (list !== undefined) return isListOf(list, condition as Record<string, unknown>) ? list : undefined
  return keys.length === 1 ? groupKinds.find(({ keyword }) => keyword === keys[0]) : undefined
}

function isListOf({ keyword }: GroupKind, held: Record<string, unknown>): boolean {
  const isCount = keyword === 'count'
  const known = new Set([keyword, 'that', ...(isCount ? ['operator', 'value'] : [])])
  return (
    typeof held[keyword] === 'string' &&
    (Array.isArray(held.that) || (isCount && held.that === undefined)) &&
    (!isCount || typeof held.operator === 'string') &&
    Object.keys(held).every((key) => known.has(key))
  )
}

/** The path of the list of such a condition. */
export function listOf(condition: Condition, { keyword }: GroupKind): string {
  return (condition as unknown as Record<string, string>)[keyword] ?? ''
}

export function childrenOf(condition: Condition, { keyword, isSingle, isList }: GroupKind): Condition[] {
  const held = condition as unknown as Record<string, unknown>
  return (isList ? (held.that ?? []) : isSingle ? [held[keyword]] : held[keyword]) as Condition[]
}

/** The path of the conditions of a group, as the faults of the API have it. */
export function childrenPath(path: string, { keyword, isList }: GroupKind): string {
  return `${path}.${isList ? 'that' : keyword}`
}

/** The path of a child. */
export function childPath(path: string, kind: GroupKind, index: number): string {
  return kind.isSingle ? childrenPath(path, kind) : `${childrenPath(path, kind)}[${index}]`
}

/** A group of these conditions; undefined without any. Several below a `not` become a group below it. */
export function makeGroup({ keyword, isSingle }: GroupKind, children: Condition[]): Condition | undefined {
  const [first] = children
  if (first === undefined) return undefined
  const held = !isSingle ? children : children.length === 1 ? first : { all: children }
  return { [keyword]: held } as unknown as Condition
}

/** The same condition of other ones; undefined if it needs one and has none. Items can be counted without any. */
export function withChildren(
  condition: Condition,
  kind: GroupKind,
  children: Condition[],
): Condition | undefined {
  if (!kind.isList) return makeGroup(kind, children)
  if (children.length > 0) return { ...condition, that: children } as Condition
  const { that: _, ...rest } = condition as unknown as Record<string, unknown>
  return kind.keyword === 'count' ? (rest as unknown as Condition) : undefined
}

/** The same conditions in a group of another kind, or on the same list with another quantifier. */
export function changeKind(condition: Condition, from: GroupKind, to: GroupKind): Condition | undefined {
  const children = childrenOf(condition, from)
  if (!to.isList) return makeGroup(to, children)
  const list = { [to.keyword]: listOf(condition, from) }
  if (to.keyword !== 'count')
    return { ...list, that: children.length > 0 ? children : [emptyClause] } as unknown as Condition
  return {
    ...list,
    ...(children.length > 0 && { that: children }),
    operator: 'greater_than_or_equal',
    value: 1,
  } as unknown as Condition
}

/** The path of what is filled in first. */
export function firstPathOf(condition: Condition, path: string): string {
  const kind = groupKindOf(condition)
  if (kind === undefined) return isTime(condition) ? `${path}.time` : `${path}.field`
  return kind.isList ? `${path}.${kind.keyword}` : `${childPath(path, kind, 0)}.field`
}

/** What a person calls it. */
export function nameCondition(condition: Condition): string {
  if (isClause(condition)) return `the condition on ${condition.field || 'a field'}`
  const kind = groupKindOf(condition)
  if (kind === undefined) return 'the condition in JSON'
  return kind.isList ? `the condition on ${listOf(condition, kind) || 'a list'}` : 'the group'
}
