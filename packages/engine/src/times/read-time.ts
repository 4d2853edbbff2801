import { showText } from '../texts/show-text.js'
import { keepsDigits } from '../values/decimal.js'
import { readIsoText } from './iso-text.js'
import { readMailDate } from './mail-date.js'

/** Numbers below count something else: 10^8 s and 10^11 ms are the same moment, in 1973. */
export const firstSeconds = 1e8
export const firstMilliseconds = 1e11
/** The last instant that a JavaScript Date can hold. */
export const lastMilliseconds = 8.64e15
/** Longer texts are no times. */
const maxLength = 100

/** What the data of events may have for a time, for the author of a rule. */
export const timeForms =
  'dates, date-times with their zone (ISO 8601 or RFC 2822), and numbers of Unix seconds or milliseconds'

/**
 * Reads a time in the data of an event, for everything that compares or writes one. A text is ISO 8601 or RFC 2822 with its zone, or a date
 * (midnight UTC). A number is Unix seconds or milliseconds, by its size. A text of digits is no time.
 *
 * @returns epoch milliseconds, or NaN
 */
export function readTime(value: unknown): number {
  if (typeof value === 'number') return readNumber(value)
  if (typeof value !== 'string' || value.length > maxLength) return Number.NaN
  const instant = readIsoText(value)
  return Number.isNaN(instant) ? readMailDate(value) : instant
}

function readNumber(number: number): number {
  const size = Math.abs(number)
  if (size >= firstMilliseconds) return size <= lastMilliseconds ? number : Number.NaN
  // A float of seconds with decimals is a little more or less than its milliseconds.
  return size >= firstSeconds ? Math.round(number * 1_000) : Number.NaN
}

/** Says how a number was read; nothing of a text, which shows it. */
export function describeTime(value: unknown): string | undefined {
  const instant = typeof value === 'number' ? readNumber(value) : Number.NaN
  if (Number.isNaN(instant)) return undefined
  const unit = Math.abs(value as number) < firstMilliseconds ? 'Unix seconds' : 'milliseconds since 1970'
  return `read as ${unit}: ${new Date(instant).toISOString()}`
}

/** Says why a value is no time; undefined for one that is. */
export function findTimeFault(value: unknown): string | undefined {
  return Number.isNaN(readTime(value)) ? `${showText(value)} ${findReason(value)}` : undefined
}

function findReason(value: unknown): string {
  if (typeof value === 'number')
    return Math.abs(value) < firstSeconds
      ? 'is too small a number for a time (from 100,000,000 on they are Unix seconds)'
      : 'is too large a number for a time'
  if (typeof value !== 'string' || value.length > maxLength) return 'is not a time'
  if (/^-?\d+(?:\.\d+)?$/.test(value))
    return keepsDigits(value)
      ? 'is a text of digits, not a time: send a number'
      : 'has more digits than a number keeps, so it is a text and not a time'
  if (/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d[\d:.,]*$/.test(value)) return 'has no zone, so it is not a time'
  return 'is not a time'
}
