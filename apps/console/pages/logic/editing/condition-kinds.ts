import type { Condition } from '@automation/client'

/** A condition that consists of others. */
export interface GroupKind {
  /** The key that makes a condition one of this kind, and holds its conditions. */
  keyword: string
  /** How it begins in a sentence. */
  words: string
  /** Stands between its conditions. */
  joint: string
  /** It holds one condition, and no list. */
  isSingle?: true
}

/** What the editor can show of groups. A condition of another kind stays as it is, and is edited as JSON. */
export const groupKinds: readonly GroupKind[] = [
  { keyword: 'any', words: 'at least one of these', joint: 'or' },
  { keyword: 'all', words: 'all of these', joint: 'and' },
  { keyword: 'not', words: 'not', joint: 'and', isSingle: true },
]

export interface Clause {
  field: string
  operator: string
  value?: unknown
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
  return keys.length === 1 ? groupKinds.find(({ keyword }) => keyword === keys[0]) : undefined
}

export function childrenOf(condition: Condition, { keyword, isSingle }: GroupKind): Condition[] {
  const held = (condition as unknown as Record<string, unknown>)[keyword]
  return (isSingle ? [held] : held) as Condition[]
}

/** The path of a child, as the faults of the API have it. */
export function childPath(path: string, { keyword, isSingle }: GroupKind, index: number): string {
  return isSingle ? `${path}.${keyword}` : `${path}.${keyword}[${index}]`
}

/** A group of these conditions; undefined without any. Several below a `not` become a group below it. */
export function makeGroup({ keyword, isSingle }: GroupKind, children: Condition[]): Condition | undefined {
  const [first] = children
  if (first === undefined) return undefined
  const held = !isSingle ? children : children.length === 1 ? first : { all: children }
  return { [keyword]: held } as unknown as Condition
}
