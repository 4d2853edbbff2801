import { type Static, Type } from 'typebox'

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

/** Equality of scalars: strict, except that a number equals a text that is the same number, as far as numbers are exact. Symmetric. */
export function equalTo(value: Scalar): (actual: unknown) => boolean {
  const number = toNumber(value)
  if (!isExact(number)) return (actual) => actual === value
  if (typeof value === 'number') return (actual) => toNumber(actual) === value
  return (actual) => actual === value || actual === number
}

/** The same equality against many values, in constant time. An item of the list that is not a scalar equals nothing. */
export function memberOf(values: readonly unknown[]): (actual: unknown) => boolean {
  const exact = new Set(values.filter((value) => !Number.isNaN(value)))
  const numbers = new Set(values.filter((value) => typeof value === 'number' && isExact(value)))
  const numbersInTexts = new Set(
    values
      .filter((value) => typeof value === 'string')
      .map(toNumber)
      .filter(isExact),
  )
  return (actual) => {
    if (exact.has(actual)) return true
    if (typeof actual === 'string') return numbers.size > 0 && numbers.has(toNumber(actual))
    return typeof actual === 'number' && numbersInTexts.has(actual)
  }
}
