import { type Quantifier, quantifiers } from '../operators/quantifiers.js'
import type { Clause, Condition, CountCondition, ListCondition, TimeCondition } from '../rule.js'

/** A condition that is no group: its result is that of one comparison, of one list, or of the moment. */
export type Leaf = Clause | ListCondition | TimeCondition

/** A condition within another one, and its place below it, such as `.any[1]`. */
export interface Part {
  readonly condition: Condition
  readonly place: string
}

export function isClause(condition: Condition): condition is Clause {
  return 'field' in condition
}

export function isTimeCondition(condition: Condition): condition is TimeCondition {
  return 'time' in condition && !isClause(condition)
}

export function isListCondition(condition: Condition): condition is ListCondition {
  return !('field' in condition) && quantifiers.some((quantifier) => quantifier in condition)
}

/** The conditions of a group. A clause has none, and those of a list are about its items: `itemPartsOf`. */
export function partsOf(condition: Condition): Part[] {
  if ('not' in condition) return [{ condition: condition.not, place: '.not' }]
  if ('all' in condition) return placeAll(condition.all, '.all')
  if ('any' in condition) return placeAll(condition.any, '.any')
  return []
}

export function isLeaf(condition: Condition): condition is Leaf {
  return !('all' in condition || 'any' in condition || 'not' in condition)
}

/** The conditions on each item of a list. Their paths begin at the item. */
export function itemPartsOf({ that = [] }: ListCondition): Part[] {
  return placeAll(that, '.that')
}

/** The clauses and lists of a condition, in the order of the rule, each with its path. */
export function listLeaves(condition: Condition, path: string): { leaf: Leaf; path: string }[] {
  if (isLeaf(condition)) return [{ leaf: condition, path }]
  return partsOf(condition).flatMap((part) => listLeaves(part.condition, path + part.place))
}

export interface ReadList {
  readonly quantifier: Quantifier
  /** The path of the list. */
  readonly path: string
}

export function readList(condition: ListCondition): ReadList {
  const quantifier = quantifiers.find((name) => name in condition) as Quantifier
  return { quantifier, path: (condition as unknown as Record<Quantifier, string>)[quantifier] }
}

export function isCount(condition: ListCondition): condition is CountCondition {
  return 'count' in condition
}

/** A copy of a condition with its leaves, and those on the items of its lists, as `change` returns them. */
export function mapLeaves(condition: Condition, change: (leaf: Leaf) => Leaf): Condition {
  const mapAll = (conditions: readonly Condition[]) => conditions.map((one) => mapLeaves(one, change))
  if ('not' in condition) return { not: mapLeaves(condition.not, change) }
  if ('all' in condition) return { all: mapAll(condition.all) }
  if ('any' in condition) return { any: mapAll(condition.any) }
  const changed = change(condition)
  return isListCondition(changed) && changed.that ? { ...changed, that: mapAll(changed.that) } : changed
}

function placeAll(conditions: readonly Condition[], place: string): Part[] {
  return conditions.map((condition, index) => ({ condition, place: `${place}[${index}]` }))
}
