import { Type } from 'typebox'
import { showText } from '../texts/show-text.js'
import { compareNumbers, compareTo, toNumber, unitsToReadNumber } from '../values/comparison.js'
import { define, type Kind, negate, type Operator, type OperatorExample } from './operator.js'

/** Of all operators that compare numbers. */
const numeric = {
  // Also numbers that are written as text.
  compares: ['number', 'string'] as readonly Kind[],
  reads: 'numbers, and texts that are nothing but a number, such as "80" and "-0.5"',
  findUnread: (actual: unknown) =>
    Number.isNaN(toNumber(actual)) ? `${showText(actual)} is not a number` : undefined,
  textUnits: unitsToReadNumber,
}

export const greaterThan = compare(
  'greater_than',
  'gt',
  'The number is greater.',
  { value: 80, holds: [81, '80.5'], fails: [80, '81 points', true] },
  (difference) => difference > 0,
)

export const greaterThanOrEqual = compare(
  'greater_than_or_equal',
  'gte',
  'The number is greater or equal.',
  { value: 80, holds: [80, '80'], fails: [79.9, '80 '] },
  (difference) => difference >= 0,
)

export const lessThan = compare(
  'less_than',
  'lt',
  'The number is less.',
  { value: 0, holds: [-1, '-0.5'], fails: [0, '', null] },
  (difference) => difference < 0,
)

export const lessThanOrEqual = compare(
  'less_than_or_equal',
  'lte',
  'The number is less or equal.',
  { value: 0, holds: [0, '-1'], fails: [0.1, '', null] },
  (difference) => difference <= 0,
)

export const between = define({
  name: 'between',
  description: 'The number is between the two, both inclusive.',
  ...numeric,
  example: { value: [1, 5], holds: [1, 2.5, '5'], fails: [0.9, '5.1', [3]] },
  value: Type.Array(Type.Number(), {
    minItems: 2,
    maxItems: 2,
    title: 'Range',
    description: '[low, high], both inclusive',
  }),
  findFault: ([low = 0, high = 0]) => (low <= high ? undefined : 'must be [low, high] with low at most high'),
  compile([low = 0, high = 0]) {
    return (actual) => compareTo(actual, low) >= 0 && compareTo(actual, high) <= 0
  },
  measure(actual, [low = 0, high = 0]) {
    const number = toNumber(actual)
    return { distance: Math.max(low - number, number - high) }
  },
})

export const notBetween = negate(between, {
  name: 'not_between',
  description: 'The opposite of between.',
  measure(actual, value) {
    const [low = 0, high = 0] = value as number[]
    const number = toNumber(actual)
    return { distance: Math.min(number - low, high - number) }
  },
})

function compare(
  name: string,
  alias: string,
  description: string,
  example: OperatorExample,
  holds: (difference: number) => boolean,
): Operator {
  return define({
    name,
    aliases: [alias],
    description,
    ...numeric,
    example,
    value: Type.Number({ title: 'Number' }),
    compile: (limit) => (actual) => holds(compareTo(actual, limit)),
    compareTwo: (left, right) => holds(compareNumbers(left, right)),
    measure: (actual, limit) => ({ distance: Math.abs(toNumber(actual) - toNumber(limit)) }),
  })
}
