import type { Condition } from '../rule.js'
import { isReference, readReference } from '../values/value-reference.js'
import { isClause, isListCondition, itemPartsOf, listLeaves, readList } from './condition-parts.js'

/** A path that begins at the event data, and where it stands in the rule. */
export interface PlacedPath {
  readonly path: string
  readonly place: string
}

/** Lists what a condition reads of the event. The paths of `that` begin at an item, and are not among them. */
export function listConditionPaths(condition: Condition, place: string): PlacedPath[] {
  return listLeaves(condition, place).flatMap(({ leaf, path: at }) => {
    if (isListCondition(leaf)) {
      const { quantifier, path } = readList(leaf)
      return [
        { path, place: `${at}.${quantifier}` },
        ...itemPartsOf(leaf).flatMap((part) => listRootPaths(part.condition, at + part.place)),
      ]
    }
    if (!isClause(leaf)) return []
    const { field, value } = leaf
    return [
      { path: field, place: `${at}.field` },
      ...(isReference(value) ? [{ path: readReference(value).text, place: `${at}.value` }] : []),
    ]
  })
}

/** Lists what a condition on the items of a list reads of the event: with `root`. */
export function listRootPaths(condition: Condition, place: string): PlacedPath[] {
  return listLeaves(condition, place).flatMap(({ leaf, path: at }) => {
    const value = 'value' in leaf ? leaf.value : undefined
    const reference = isReference(value) ? readReference(value) : undefined
    return reference?.isRoot ? [{ path: reference.text, place: `${at}.value` }] : []
  })
}
