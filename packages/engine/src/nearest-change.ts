import { toNumber } from './comparison.js'
import { type CompiledCondition, compileCondition } from './conditions.js'
import type { PlacedClause } from './decisive.js'
import { parseDuration } from './duration.js'
import type { Evaluation } from './evaluation.js'
import { compilePath, parsePath, readPath } from './path.js'
import { firstMilliseconds, readTime } from './read-time.js'
import type { Clause, Condition } from './rule.js'
import { parseTimestamp } from './timestamp.js'

/** A value to change; `to` is JSON, and null stands for a missing field, too. */
export interface ValueChange {
  field: string
  to: unknown
}

/** How many values are tried for one rule, in any combination. */
const maxTries = 2_000
const maxPerField = 6
/** Longer texts and lists are not extended, but replaced. */
const maxExtended = 500
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
  const clausesByField = groupClauses(conditions)
  const tries = { left: maxTries }
  const copyUnits = unitsPerValue * sizeOf(data)
  const affordsCopies = (count: number): boolean => {
    const isAffordable = evaluation.reaches(count * copyUnits)
    if (isAffordable) evaluation.charge(count * copyUnits)
    return isAffordable
  }
  for (const set of sets) {
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
  turning: readonly PlacedClause[],
  clauses: readonly Clause[],
  { data, evaluation, affordsCopies }: Trial,
): unknown[] {
  const actual = readPath(compilePath(field), data)
  const tests = turning.map(({ clause, verdict }) => ({ test: compileCondition(clause), wanted: !verdict }))
  const listed = clauses.flatMap((clause) => listValues(clause.value, actual, evaluation.now))
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

function listValues(value: unknown, actual: unknown, now: number): unknown[] {
  const constants = Array.isArray(value) ? value.slice(0, 100) : [value]
  return [
    ...constants.flatMap((constant) => listNeighbours(constant, actual, now)),
    ...(Array.isArray(actual) && actual.length <= maxExtended
      ? [[...actual, ...constants], actual.filter((item) => !constants.some((constant) => item === constant))]
      : []),
    constants,
  ].filter((candidate) => candidate !== undefined)
}

function listNeighbours(constant: unknown, actual: unknown, now: number): unknown[] {
  if (typeof constant === 'number') return [constant, ...besideNumber(constant, actual)]
  if (typeof constant !== 'string') return [constant]
  const number = toNumber(constant)
  const times = [parseTimestamp(constant), ...timesOfSpan(parseDuration(constant), now)].filter(
    (time) => !Number.isNaN(time),
  )
  const writeTime = (time: number) => writeInstant(time, actual)
  return [
    constant,
    ...(Number.isNaN(number) ? [] : besideNumber(number, actual)),
    ...times.flatMap((time) => [time, time - 1, time + 1].flatMap(writeTime)),
    ...(typeof actual === 'string' && actual.length <= maxExtended
      ? [`${constant}${actual}`, `${actual}${constant}`, actual.replaceAll(constant, '')]
      : []),
  ]
}

/** The ends of `within_last` and `within_next`. */
function timesOfSpan(span: number | undefined, now: number): number[] {
  return span === undefined ? [] : [now, now - span, now + span]
}

/** As the event writes its times: in its unit, if it has a number. */
function writeInstant(time: number, actual: unknown): unknown[] {
  const isPlain = Math.abs(time) < 2.5e14 && time > -6e13
  const isSeconds = typeof actual === 'number' && Math.abs(actual) < firstMilliseconds
  return [
    ...(typeof actual === 'number' ? [isSeconds ? time / 1_000 : time] : []),
    ...(isPlain ? [new Date(time).toISOString()] : []),
  ]
}

/** One step of the finer of the two numbers, at most a hundredth; of a large number one step of a float. */
function besideNumber(number: number, actual: unknown): number[] {
  const digits = Math.min(Math.max(decimalsOf(number), decimalsOf(toNumber(actual)), 2), 15)
  const step = Math.max(10 ** -digits, Math.abs(number) * 2 ** -52)
  const near = [number - step, number + step]
  const rounded = Math.abs(number) < 1e12 ? near.map((value) => Number(value.toFixed(digits))) : near
  return [...rounded, number - 1, number + 1].filter(Number.isFinite)
}

function decimalsOf(number: number): number {
  if (Number.isNaN(number)) return 0
  const text = String(number)
  const point = text.indexOf('.')
  return point === -1 || text.includes('e') ? 0 : text.length - point - 1
}

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

function groupClauses(conditions: readonly Condition[]): Map<string, Clause[]> {
  const groups = new Map<string, Clause[]>()
  const visit = (condition: Condition): void => {
    if ('all' in condition) condition.all.forEach(visit)
    else if ('any' in condition) condition.any.forEach(visit)
    else if ('not' in condition) visit(condition.not)
    else groups.set(condition.field, [...(groups.get(condition.field) ?? []), condition])
  }
  conditions.forEach(visit)
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
