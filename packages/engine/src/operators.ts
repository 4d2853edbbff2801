import { Type } from 'typebox'
import { equalTo, memberOf, Scalar, toNumber } from './comparison.js'
import { findDurationFault, parseDuration } from './duration.js'
import type { Judging } from './judging.js'
import { compare, compareTime, define, negate, type Operator } from './operator.js'
import { compilePattern, findPatternFault, maxPatternLength, patternSteps } from './pattern.js'
import { parseTimestamp } from './timestamp.js'

const Scalars = Type.Array(Scalar, { minItems: 1, maxItems: 1000 })
// Fewer than for `in`: each value costs one search of the text.
const FewScalars = Type.Array(Scalar, { minItems: 1, maxItems: 100 })
/** `memberOf` files each item of a list in three sets. */
const stepsPerMember = 8
const Range = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 2,
  description: '[low, high], both inclusive',
})
const Text = Type.String({ minLength: 1, maxLength: 10_000 })
const Pattern = Type.String({
  minLength: 1,
  maxLength: maxPatternLength,
  description: 'Regular expression in RE2 syntax',
})
const Instant = Type.String({ minLength: 1, maxLength: 40, description: 'ISO 8601 time with a zone' })
const Duration = Type.String({
  minLength: 1,
  maxLength: 20,
  description: 'Duration: an integer with s, m, h, d or w',
})

const equals = define({
  name: 'equals',
  aliases: ['eq'],
  value: Scalar,
  compile: equalTo,
  findWanted: (value) => [value],
})

const between = define({
  name: 'between',
  value: Range,
  findFault: ([low = 0, high = 0]) => (low <= high ? undefined : 'must be [low, high] with low at most high'),
  compile([low = 0, high = 0]) {
    return (actual) => {
      const number = toNumber(actual)
      return number >= low && number <= high
    }
  },
})

const isIn = define({ name: 'in', value: Scalars, compile: memberOf, findWanted: (values) => values })

const contains = define({
  name: 'contains',
  value: Scalar,
  compile(value) {
    const isEqual = equalTo(value)
    return (actual, judging) => {
      if (typeof actual === 'string') return typeof value === 'string' && includesText(actual, value, judging)
      return Array.isArray(actual) && judging.spend(actual.length) && actual.some(isEqual)
    }
  },
})

const matches = define({
  name: 'matches',
  value: Pattern,
  findFault: findPatternFault,
  patternSteps,
  compile: compilePattern,
})

// A null means the same as a missing key: CRMs send either.
const exists = define({ name: 'exists', compile: () => (actual) => actual !== undefined && actual !== null })

const isEmpty = define({ name: 'is_empty', compile: () => hasNothing })

/** All operators. A new one needs one entry here: validation, evaluation, trace and OpenAPI follow. */
export const operators: readonly Operator[] = [
  equals,
  negate(equals, 'not_equals', 'neq'),
  compare('greater_than', 'gt', (actual, limit) => actual > limit),
  compare('greater_than_or_equal', 'gte', (actual, limit) => actual >= limit),
  compare('less_than', 'lt', (actual, limit) => actual < limit),
  compare('less_than_or_equal', 'lte', (actual, limit) => actual <= limit),
  between,
  negate(between, 'not_between'),
  isIn,
  negate(isIn, 'not_in'),
  contains,
  negate(contains, 'not_contains'),
  define({
    name: 'contains_any',
    value: FewScalars,
    compile(values) {
      const isWanted = memberOf(values)
      const texts = values.filter((value) => typeof value === 'string')
      return (actual, judging) => {
        if (typeof actual === 'string') return texts.some((text) => includesText(actual, text, judging))
        return Array.isArray(actual) && judging.spend(actual.length) && actual.some(isWanted)
      }
    },
  }),
  define({
    name: 'contains_all',
    value: FewScalars,
    compile: (values) => (actual, judging) => {
      if (typeof actual === 'string')
        return values.every((value) => typeof value === 'string' && includesText(actual, value, judging))
      return (
        Array.isArray(actual) &&
        judging.spend(actual.length * stepsPerMember) &&
        values.every(memberOf(actual))
      )
    },
  }),
  define({
    name: 'starts_with',
    value: Text,
    compile: (start) => (actual) => typeof actual === 'string' && actual.startsWith(start),
  }),
  define({
    name: 'ends_with',
    value: Text,
    compile: (end) => (actual) => typeof actual === 'string' && actual.endsWith(end),
  }),
  matches,
  negate(matches, 'not_matches'),
  exists,
  negate(exists, 'not_exists'),
  isEmpty,
  negate(isEmpty, 'is_not_empty'),
  define({ name: 'is_true', compile: () => (actual) => actual === true, findWanted: () => [true] }),
  define({ name: 'is_false', compile: () => (actual) => actual === false, findWanted: () => [false] }),
  compareTime('before', Instant, findInstantFault, parseTimestamp, (actual, limit) => actual < limit),
  compareTime('after', Instant, findInstantFault, parseTimestamp, (actual, limit) => actual > limit),
  compareTime(
    'within_last',
    Duration,
    findDurationFault,
    parseDuration,
    (actual, span, now) => actual >= now - span && actual <= now,
  ),
  compareTime(
    'within_next',
    Duration,
    findDurationFault,
    parseDuration,
    (actual, span, now) => actual >= now && actual <= now + span,
  ),
]

const operatorsByName = new Map(
  operators.flatMap((operator) =>
    [operator.name, ...operator.aliases].map((name) => [name, operator] as const),
  ),
)

/** Finds an operator by its name or an alias. */
export function findOperator(name: string): Operator | undefined {
  return operatorsByName.get(name)
}

function findInstantFault(text: string): string | undefined {
  if (!Number.isNaN(parseTimestamp(text))) return undefined
  return 'must be an ISO 8601 date or a date-time with its zone, such as 2026-01-31T09:00:00Z'
}

/**
 * A search looks at some ten characters in the time of a unit of work. V8 may compare every character of the sought text at every
 * place, 50 in a unit: 5,000 characters sought in 1,000,000 made for it take 2.7 s.
 */
function includesText(text: string, sought: string, judging: Judging): boolean {
  return judging.spend(text.length * (0.1 + sought.length / 50)) && text.includes(sought)
}

/** JavaScript lists all keys of an object before it says that there is one: of a large object that takes some milliseconds. */
const emptyObjects = new WeakMap<object, boolean>()

function hasNothing(actual: unknown): boolean {
  if (actual === undefined || actual === null || actual === '') return true
  if (typeof actual !== 'object') return false
  if (Array.isArray(actual)) return actual.length === 0
  let isEmpty = emptyObjects.get(actual)
  if (isEmpty === undefined) {
    isEmpty = Object.keys(actual).length === 0
    emptyObjects.set(actual, isEmpty)
  }
  return isEmpty
}
