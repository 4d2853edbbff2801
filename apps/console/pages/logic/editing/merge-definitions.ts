import { quantifiers } from '@automation/engine'
import type { Definition } from '../rule-definition.js'
import { alignItems, isEqual } from './align-items.js'

export type Side = 'mine' | 'theirs'

/** Something that both changed, each in another way. undefined: it was removed, or was not there. */
export interface MergeConflict {
  /** Where it is, by the places of the base: `conditions[0]`, `actions[1].config.title`. */
  path: string
  base: unknown
  mine: unknown
  theirs: unknown
}

export interface Merge {
  merged: Definition
  conflicts: MergeConflict[]
}

/**
 * Puts two changes of one rule together. What only one of them touched is taken from it; what both changed is a conflict, and the merged
 * definition has the chosen side of it.
 *
 * @param base undefined: nobody knows who changed what, so all that differs is a conflict, lists as a whole
 * @param choices by the path of a conflict. Usually mine.
 */
export function mergeDefinitions(
  base: Definition | undefined,
  mine: Definition,
  theirs: Definition,
  choices: ReadonlyMap<string, Side> = new Map(),
): Merge {
  const conflicts: MergeConflict[] = []
  const ask: Ask = (conflict) => {
    conflicts.push(conflict)
    return conflict[choices.get(conflict.path) ?? 'mine']
  }
  return { merged: mergeValues({ base: base ?? {}, mine, theirs, path: '' }, ask) as Definition, conflicts }
}

type Ask = (conflict: MergeConflict) => unknown
type JsonObject = Record<string, unknown>

function mergeValues(three: MergeConflict, ask: Ask): unknown {
  const { base, mine, theirs, path } = three
  if (isEqual(mine, theirs) || isEqual(base, theirs)) return mine
  if (isEqual(base, mine)) return theirs
  if (isList(path) && [base, mine, theirs].every(Array.isArray))
    return mergeLists(base as unknown[], mine as unknown[], theirs as unknown[], path, ask)
  if ([base, mine, theirs].every(isMergeable) && hasOneKind([base, mine, theirs] as JsonObject[]))
    return mergeObjects(base as JsonObject, mine as JsonObject, theirs as JsonObject, path, ask)
  return ask(three)
}

/** Lists of conditions and of actions. The values of a comparison belong together. */
function isList(path: string): boolean {
  return /(^|\.)(conditions|actions|all|any|that|where)$/.test(path)
}

/** A comparison is one statement: half of one and half of another says what nobody meant. */
function isMergeable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('operator' in value)
}

const kindsOfConditions = ['all', 'any', 'not', ...quantifiers]

/** Not two types of actions, nor two kinds of groups or lists. */
function hasOneKind(values: readonly JsonObject[]): boolean {
  const kinds = values.map((value) => value.type ?? kindsOfConditions.find((kind) => kind in value))
  return new Set(kinds).size === 1
}

function mergeObjects(
  base: JsonObject,
  mine: JsonObject,
  theirs: JsonObject,
  path: string,
  ask: Ask,
): JsonObject {
  const keys = new Set([...Object.keys(base), ...Object.keys(mine), ...Object.keys(theirs)])
  const entries = [...keys].map((key) => {
    const place = path === '' ? key : `${path}.${key}`
    return [
      key,
      mergeValues({ base: base[key], mine: mine[key], theirs: theirs[key], path: place }, ask),
    ] as const
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function mergeLists(base: unknown[], mine: unknown[], theirs: unknown[], path: string, ask: Ask): unknown[] {
  const [own, other] = [alignItems(base, mine), alignItems(base, theirs)]
  const added = (index: number) => {
    const theirItems = other.inserted[index] ?? []
    const isNew = (item: unknown) => !theirItems.some((one) => isEqual(one, item))
    return [...theirItems, ...(own.inserted[index] ?? []).filter(isNew)]
  }
  const merged = base.flatMap((item, index) => {
    const three = {
      base: item,
      mine: own.kept[index],
      theirs: other.kept[index],
      path: `${path}[${index}]`,
    }
    return [...added(index), mergeValues(three, ask)]
  })
  return [...merged, ...added(base.length)].filter((item) => item !== undefined)
}
