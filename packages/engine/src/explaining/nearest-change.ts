import type { CompiledCondition } from '../conditions/compiled-condition.js'
import {
  isClause,
  isListCondition,
  itemPartsOf,
  listLeaves,
  readList,
} from '../conditions/condition-parts.js'
import { compileCondition } from '../conditions/conditions.js'
import type { Clause, Condition } from '../rule.js'
import { readTime } from '../times/read-time.js'
import { toNumber } from '../values/comparison.js'
import { compilePath, parsePath, readPath } from '../values/path.js'
import { isReference, itemItself, readReference, type ValueReference } from '../values/value-reference.js'
import type { Evaluation } from '../work/evaluation.js'
import type { PlacedClause } from './decisive.js'
import { listValues } from './nearby-values.js'

/** A value to change; `to` is JSON, and null stands for a missing field, too. */
export interface ValueChange {
  field: string
  to: unknown
}

/** How many values are tried for one rule, in any combination. */
const maxTries = 2_000
const maxPerField = 6
const unitsPerCandidate = 40

/**
 * Finds data near to the given one that fulfils the rule. Candidates are the constants of the clauses, their neighbours, and a few values of
 * each kind; the operators themselves decide, so what is returned makes the rule match. The nearest set of clauses comes first, and of each
 * field the nearest value.
 *
 * @param sets of clauses that have to turn (findDecisive)
 * @returns null where no such data was found, which does not say that there is none
 */
export function findChange(
  conditions: readonly Condition[],
  sets: readonly PlacedClause[][],
  data: unknown,
  evaluation: Evaluation,
): ValueChange[] | null {
  const compiled = conditions.map(compileCondition)
  const clausesByField = groupClauses(conditions, sets)
  const tries = { left: maxTries }
  const copyUnits = unitsPerValue * sizeOf(data)
  const affordsCopies = (count: number): boolean => {
    const isAffordable = evaluation.reaches(count * copyUnits)
    if (isAffordable) evaluation.charge(count * copyUnits)
    return isAffordable
  }
  for (const placed of sets) {
    const set = placed.flatMap(readTurning)
    // No value of a field is known that turns a whole list.
    if (set.length < placed.length) continue
    const fields = [...new Set(set.map(({ clause }) => clause.field))]
    const options = fields.map((field) => {
      const turning = set.filter(({ clause }) => clause.field === field)
      return listOptions(field, turning, clausesByField.get(field) ?? [], { data, evaluation, affordsCopies })
    })
    if (options.some(({ length }) => length === 0)) continue
    const found = search(fields, options, tries, (changes) => {
      if (!affordsCopies(changes.length)) return false
      const changed = applyChanges(data, changes)
      return changed !== undefined && allHold(compiled, changed, evaluation)
    })
    if (found !== undefined) return found
    if (tries.left <= 0) return null
  }
  return null
}

interface Turning {
  readonly clause: Clause
  readonly verdict: boolean
}

/** The clause as one on the event, also where it is about an item of a list. None for a list as a whole. */
function readTurning({ clause, verdict, item }: PlacedClause): Turning[] {
  if (!isClause(clause)) return []
  const onEvent = item === undefined ? clause : placeOnEvent(clause, item)
  return parsePath(onEvent.field) === undefined ? [] : [{ clause: onEvent, verdict }]
}

/** `qty` of the item `items[2]` is `items[2].qty`. */
function placeOnEvent(clause: Clause, item: string): Clause {
  const place = (path: string) => (path === itemItself ? item : `${item}.${path}`)
  const { value } = clause
  if (!isReference(value)) return { ...clause, field: place(clause.field) }
  const { text, isRoot } = readReference(value)
  return { ...clause, field: place(clause.field), value: { field: isRoot ? text : place(text) } }
}

/** Tries each combination of the options, the first ones first. */
function search(
  fields: readonly string[],
  options: readonly unknown[][],
  tries: { left: number },
  fits: (changes: ValueChange[]) => boolean,
  changes: ValueChange[] = [],
): ValueChange[] | undefined {
  const field = fields[changes.length]
  if (field === undefined) return fits(changes) ? changes : undefined
  for (const to of options[changes.length] ?? []) {
    if (tries.left-- <= 0) return undefined
    const found = search(fields, options, tries, fits, [...changes, { field, to }])
    if (found !== undefined) return found
  }
  return undefined
}

/** The values of a field with which the clauses turn, the nearest first. */
function listOptions(
  field: string,
  turning: readonly Turning[],
  clauses: readonly Clause[],
  { data, evaluation, affordsCopies }: Trial,
): unknown[] {
  const actual = readPath(compilePath(field), data)
  const tests = turning.map(({ clause, verdict }) => ({ test: compileCondition(clause), wanted: !verdict }))
  const listed = clauses.flatMap(({ value }) =>
    listValues(isReference(value) ? readOther(value, data) : value, actual, evaluation.now),
  )
  const values = unique(listed, evaluation)
  const fitting = [...values, ...anyValues].filter((value) => {
    if (!affordsCopies(1)) return false
    const changed = applyChanges(data, [{ field, to: value }])
    return (
      changed !== undefined && tests.every(({ test, wanted }) => holds(test, changed, evaluation) === wanted)
    )
  })
  return unique(fitting, evaluation)
    .map((value) => ({ value, distance: distanceOf(actual, value) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, maxPerField)
    .map(({ value }) => value)
}

interface Trial {
  data: unknown
  evaluation: Evaluation
  /** Charges copies of the data. False where they would cost too much. */
  affordsCopies(count: number): boolean
}

/** Copying a value takes as long as so many units. */
const unitsPerValue = 12

const sizes = new WeakMap<object, number>()

/** The number of values in data, counted once for all rules. */
function sizeOf(data: unknown): number {
  if (typeof data !== 'object' || data === null) return 1
  const known = sizes.get(data)
  if (known !== undefined) return known
  const size = countValues(data)
  sizes.set(data, size)
  return size
}

/** The values of data at any depth, which a copy for another value may have to touch. */
function countValues(data: unknown): number {
  let count = 1
  if (typeof data === 'object' && data !== null)
    for (const value of Object.values(data)) count += countValues(value)
  return count
}

const anyValues: readonly unknown[] = ['x', 1, true, false, 0, '', ['x'], null]

/** Another kind is further away than another value of the same kind; a missing one is the last. */
function distanceOf(actual: unknown, value: unknown): number {
  if (value === null) return 1e30
  const numbers = [toNumber(actual), toNumber(value)] as const
  const times = [readTime(actual), readTime(value)] as const
  const [left, right] = numbers.some(Number.isNaN) ? times : numbers
  if (!Number.isNaN(left) && !Number.isNaN(right)) return Math.min(Math.abs(left - right), 1e20)
  const generic = anyValues.indexOf(value)
  const kind = actual === undefined || actual === null || typeof actual === typeof value ? 0 : 1e22
  return 1e21 + kind + (generic === -1 ? 0 : 1e23 + generic * 1e20) + lengthOf(value)
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length * 1e17 : 0
}

/** @returns undefined where the path cannot be set without replacing a value that is no object */
export function applyChanges(data: unknown, changes: readonly ValueChange[]): unknown {
  let changed: unknown = data
  for (const { field, to } of changes) {
    changed = setPath(changed, parsePath(field) ?? [], to)
    if (changed === undefined) return undefined
  }
  return changed
}

function setPath(holder: unknown, keys: readonly string[], value: unknown): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return value
  const isIndex = /^(?:0|[1-9]\d*)$/.test(key)
  const present = holder ?? (key === '0' ? [] : {})
  if (typeof present !== 'object') return undefined
  if (Array.isArray(present)) {
    if (!isIndex || Number(key) > present.length) return undefined
    const item = setPath(present[Number(key)], rest, value)
    return item === undefined ? undefined : present.toSpliced(Number(key), 1, item)
  }
  const inner = Object.hasOwn(present, key) ? (present as Record<string, unknown>)[key] : undefined
  const item = setPath(inner, rest, value)
  if (item === undefined) return undefined
  // Of entries, since an assignment to __proto__ would set no property.
  return Object.fromEntries([...Object.entries(present).filter(([name]) => name !== key), [key, item]])
}

/** The value of the other field: only the left one is changed. */
function readOther(reference: ValueReference, data: unknown): unknown {
  const { text } = readReference(reference)
  return parsePath(text) === undefined ? undefined : readPath(compilePath(text), data)
}

/** All clauses by their field, those on the items that would have to turn as clauses on the event. */
function groupClauses(
  conditions: readonly Condition[],
  sets: readonly PlacedClause[][],
): Map<string, Clause[]> {
  const groups = new Map<string, Clause[]>()
  const add = (clause: Clause) => groups.set(clause.field, [...(groups.get(clause.field) ?? []), clause])
  const items = new Set(sets.flat().flatMap(({ item }) => item ?? []))
  for (const { leaf } of conditions.flatMap((condition) => listLeaves(condition, ''))) {
    if (isClause(leaf)) add(leaf)
    if (!isListCondition(leaf)) continue
    const { path } = readList(leaf)
    const clauses = itemPartsOf(leaf).flatMap((part) => listLeaves(part.condition, ''))
    for (const item of items)
      if (item.startsWith(`${path}[`))
        for (const { leaf: clause } of clauses) if (isClause(clause)) add(placeOnEvent(clause, item))
  }
  return groups
}

function holds(condition: CompiledCondition, data: unknown, evaluation: Evaluation): boolean | undefined {
  evaluation.beginRule()
  const verdict = condition.holds(data, evaluation)
  return evaluation.fault === null ? verdict : undefined
}

/** As ruleHolds does: all conditions share the work of one rule. */
function allHold(conditions: readonly CompiledCondition[], data: unknown, evaluation: Evaluation): boolean {
  evaluation.beginRule()
  return conditions.every((condition) => condition.holds(data, evaluation)) && evaluation.fault === null
}

/** @returns each value once, as far as the work reaches */
function unique(values: unknown[], evaluation: Evaluation): unknown[] {
  const seen = new Set<string>()
  return values.filter((value) => {
    const key = JSON.stringify(value) ?? ''
    // As a candidate it is written, compared and measured.
    if (!evaluation.reaches(unitsPerCandidate)) return false
    evaluation.charge(unitsPerCandidate + key.length / 10)
    return !seen.has(key) && seen.add(key)
  })
}
