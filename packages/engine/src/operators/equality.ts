import { Type } from 'typebox'
import { showText } from '../texts/show-text.js'
import {
  areEqual,
  equalTo,
  isExact,
  isScalar,
  memberOf,
  Scalar,
  toNumber,
  unitsToReadNumber,
} from '../values/comparison.js'
import { define, type Kind, negate } from './operator.js'

const scalars = {
  compares: ['string', 'number', 'boolean', 'null'] as readonly Kind[],
  reads: 'texts, numbers, true, false and null (contains reads lists)',
}
const booleans = {
  compares: ['boolean'] as readonly Kind[],
  reads: 'true and false, which are no texts',
}

export const equals = define({
  name: 'equals',
  aliases: ['eq'],
  description: 'The value is the same. A number equals a string that is the same number.',
  ...scalars,
  example: { value: 10, holds: [10, '10', '10.0'], fails: [11, '10 apples', true, [10]] },
  value: Scalar,
  compile: equalTo,
  compareTwo: areEqual,
  textUnits: unitsToReadNumber,
  findWanted: (value) => [value],
  describeDifference: (actual, value) => describeLookalike(actual, [value]),
  measure(actual, value) {
    const [number, wanted] = [toNumber(actual), toNumber(value)]
    return { distance: isExact(number) && isExact(wanted) ? Math.abs(number - wanted) : Number.NaN }
  },
})

export const notEquals = negate(equals, {
  name: 'not_equals',
  aliases: ['neq'],
  description: 'The opposite of equals.',
})

export const isIn = define({
  name: 'in',
  description: 'The value equals one of the list.',
  ...scalars,
  example: { value: ['DE', 'AT', 7], holds: ['DE', 7, '7'], fails: ['de', 'CH', ['DE']] },
  value: Type.Array(Scalar, { minItems: 1, maxItems: 1000, title: 'List' }),
  compile: memberOf,
  compareTwo: (item, list, evaluation) =>
    Array.isArray(list) && isScalar(item) && evaluation.spend(list.length) && list.some(equalTo(item)),
  textUnits: unitsToReadNumber,
  findWanted: (values) => values,
  describeDifference: describeLookalike,
})

export const notIn = negate(isIn, { name: 'not_in', description: 'The opposite of in.' })

const maxLookalike = 200

/** Says that a text differs from a wanted one in what a reader hardly sees. */
function describeLookalike(actual: unknown, wanted: readonly Scalar[]): string | undefined {
  if (typeof actual !== 'string' || actual.length > maxLookalike || wanted.includes(actual)) return undefined
  const seen = readAsSeen(actual)
  const found = wanted.find((value) => isShort(value) && readAsSeen(value) === seen)
  return found === undefined
    ? undefined
    : `it differs from ${showText(found)} only in upper and lower case, white space, or characters that look the same`
}

function isShort(value: Scalar): value is string {
  return typeof value === 'string' && value.length <= maxLookalike
}

/**
 * One form for letters with accents, full-width letters, and kinds of white space; without invisible characters. The long way round through upper case
 * makes ß the same as SS, and the Turkish letters İ and ı the same as i.
 */
function readAsSeen(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('i\u0307', 'i')
}

export const isTrue = define({
  name: 'is_true',
  description: 'The value is true.',
  ...booleans,
  example: { holds: [true], fails: [false, 'true', 1] },
  compile: () => (actual) => actual === true,
  findWanted: () => [true],
})

export const isFalse = define({
  name: 'is_false',
  description: 'The value is false.',
  ...booleans,
  example: { holds: [false], fails: [true, 'false', 0, null] },
  compile: () => (actual) => actual === false,
  findWanted: () => [false],
})
