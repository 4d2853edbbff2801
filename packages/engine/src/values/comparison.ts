import { type Static, Type } from 'typebox'
import { compareDecimals, keepsDigits } from './decimal.js'

export const Scalar = Type.Unsafe<string | number | boolean | null>({
  title: 'Scalar',
  type: ['string', 'number', 'boolean', 'null'],
})
export type Scalar = Static<typeof Scalar>

/** Longer texts are no numbers: many clauses would otherwise read the same megabyte of digits. */
const maxNumberLength = 1_000

const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/**
 * Reads a number, or a text that is a JSON number without an exponent. These texts are not numbers: "10abc", "", " 5 ",
 * "0x10", "Infinity", "007" (a code with leading zeros) and "1e3" (perhaps an id). NaN otherwise, so that every
 * comparison with it is false.
 */
export function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.length > maxNumberLength || !decimal.test(value)) return Number.NaN
  const number = Number(value)
  return Number.isFinite(number) ? number : Number.NaN
}

/** Whether a number stands for itself alone. Beyond 2^53 the texts of several whole numbers, such as ids, are the same number. */
export function isExact(number: number): boolean {
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER
}

/** Reads a number like `toNumber`, but only if a double keeps its digits: two long ids that differ may be one double. */
function toExactNumber(value: unknown): number {
  const number = toNumber(value)
  return typeof value === 'string' && !Number.isNaN(number) && !keepsDigits(value) ? Number.NaN : number
}

/**
 * Compares a number, or a text that is one, with a limit: below 0 if it is less, NaN if it is no number. Texts with more digits than a
 * double keeps are compared by their digits where the doubles are the same.
 */
export function compareTo(actual: unknown, limit: number): number {
  const number = toNumber(actual)
  if (number !== limit || typeof actual !== 'string' || keepsDigits(actual)) return number - limit
  return compareDecimals(actual, String(limit))
}

/** Compares two numbers, or texts that are numbers, by their digits if need be: below 0 if the left one is less, NaN if one is no number. */
export function compareNumbers(left: unknown, right: unknown): number {
  const [one, other] = [toNumber(left), toNumber(right)]
  const areTexts = typeof left === 'string' || typeof right === 'string'
  return one === other && areTexts ? compareDecimals(String(left), String(right)) : one - other
}

/** What it costs to read a text of so many characters as a number, in units. */
export function unitsToReadNumber(length: number): number {
  return length > maxNumberLength ? 0 : length / 16
}

export function isScalar(value: unknown): value is Scalar {
  return value === null || (value !== undefined && typeof value !== 'object')
}

/** `equalTo` of two values, of which either may be no scalar: that one equals nothing. */
export function areEqual(left: unknown, right: unknown): boolean {
  return isScalar(left) && isScalar(right) && equalTo(right)(left)
}

/** Equality of scalars: strict, except that a number equals a text that is the same number, digit by digit. Symmetric. */
export function equalTo(value: Scalar): (actual: unknown) => boolean {
  const number = toExactNumber(value)
  if (typeof value === 'number')
    return (actual) =>
      actual === value || (typeof actual === 'string' && toNumber(actual) === value && keepsDigits(actual))
  return (actual) => actual === value || actual === number
}

/** The same equality against many values, in constant time. An item of the list that is not a scalar equals nothing. */
export function memberOf(values: readonly unknown[]): (actual: unknown) => boolean {
  const exact = new Set(values.filter((value) => !Number.isNaN(value)))
  const numbers = new Set([...exact].filter((value) => typeof value === 'number'))
  const numbersInTexts = new Set([...exact].filter((value) => typeof value === 'string').map(toExactNumber))
  numbersInTexts.delete(Number.NaN)
  return (actual) => {
    if (exact.has(actual)) return true
    if (typeof actual === 'string') return numbers.size > 0 && numbers.has(toExactNumber(actual))
    return typeof actual === 'number' && numbersInTexts.has(actual)
  }
}

/**
 * Values that are equal by `equalTo` have the same key: a text that is a number has the key of that number. The converse
 * is false ("1" and "1.0" share a key and are not equal), which costs no more than a candidate.
 */
export function keyOf(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const number = toNumber(value)
  return Number.isNaN(number) ? value : number
}
