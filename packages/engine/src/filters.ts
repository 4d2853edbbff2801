import { toNumber } from './comparison.js'
import { isLongNumber, keepsDigits, roundDecimal, writeNumber } from './decimal.js'
import { compilePath, parsePath, readPath } from './path.js'
import { findTimeFault, readTime, timeForms } from './read-time.js'
import { truncateText } from './truncate-text.js'

/** A filter's argument: bare, or without its quotes. */
export interface Argument {
  text: string
  isQuoted: boolean
}

/** What the template does for its filters. */
export interface Filtering {
  /** Takes a predicate about the value, such as "is no date". */
  warn(message: string): void
  /** Writes a value as text, all of which the filter reads: it is charged. */
  write(value: unknown): string
  /** Charges units of work beyond that. */
  charge(units: number): void
  /** What the paths of arguments are read from. */
  readonly data: unknown
}

/** Converts a value. What it returns is charged. */
export type Filter = (value: unknown, filtering: Filtering) => unknown

/** Compiles a filter, or describes what is wrong with its argument. */
type FilterCompiler = (argument: Argument | undefined) => Filter | string

export interface FilterDefinition {
  readonly name: string
  /** What it makes of a value, for the author of a rule. */
  readonly description: string
  /** A template, data, and the value that it renders. A test checks it. */
  readonly example: { readonly template: string; readonly data: object; readonly output: unknown }
  readonly compile: FilterCompiler
}

const maxTruncatedLength = 10_000
const maxDecimals = 20

/** All filters of placeholders. A new one needs one entry here: templates, vocabulary and docs/rules.md follow. */
export const filterDefinitions: readonly FilterDefinition[] = [
  {
    name: 'default',
    description:
      'Replaces a missing value, null and "" by the argument: a text in quotes, or a number, true, false or null; any other word without quotes is a field of the data.',
    example: { template: '{{name | default:"friend"}}', data: {}, output: 'friend' },
    compile: compileDefault,
  },
  {
    name: 'upper',
    description: 'Upper case.',
    example: { template: '{{code | upper}}', data: { code: 'de-7' }, output: 'DE-7' },
    compile: onText((text) => text.toUpperCase()),
  },
  {
    name: 'lower',
    description: 'Lower case.',
    example: { template: '{{email | lower}}', data: { email: 'Ada@Acme.COM' }, output: 'ada@acme.com' },
    compile: onText((text) => text.toLowerCase()),
  },
  {
    name: 'trim',
    description: 'Without white space at both ends.',
    example: { template: '{{name | trim}}', data: { name: '  Ada ' }, output: 'Ada' },
    compile: onText((text) => text.trim()),
  },
  {
    name: 'capitalize',
    description: 'The first letter in upper case.',
    example: { template: '{{name | capitalize}}', data: { name: 'ada lovelace' }, output: 'Ada lovelace' },
    compile: onText((text) => text.replace(/^./u, (first) => first.toUpperCase())),
  },
  {
    name: 'truncate',
    description: `At most this number of characters, counted as a reader sees them. A cut text ends with an ellipsis. The argument is 1 to ${maxTruncatedLength}.`,
    example: { template: '{{note | truncate:8}}', data: { note: 'Call back' }, output: 'Call ba…' },
    compile: compileTruncate,
  },
  {
    name: 'date',
    description:
      'A time (ISO 8601, RFC 2822, Unix seconds or milliseconds) as ISO 8601 in UTC, or in a format of YYYY, MM, DD, HH, mm, ss, SSS. Another value stays as it is, with a warning.',
    example: {
      template: '{{at | date:"DD.MM.YYYY HH:mm"}}',
      data: { at: '2026-03-09T23:05:07+01:00' },
      output: '09.03.2026 22:05',
    },
    compile: compileDate,
  },
  {
    name: 'number',
    description: `A number with this number of decimals (0 to ${maxDecimals}), as text; its decimal digits are rounded half away from zero. Without an argument a number that was text. Another value, and without an argument a text with more digits than a number keeps, stays as it is, with a warning.`,
    example: { template: '{{amount | number:2}}', data: { amount: '1.005' }, output: '1.01' },
    compile: compileNumber,
  },
  {
    name: 'json',
    description: 'The value as JSON.',
    example: { template: 'tags={{tags | json}}', data: { tags: ['a', 'b'] }, output: 'tags=["a","b"]' },
    compile: (argument) => (argument ? 'accepts no argument' : toJson),
  },
  {
    name: 'urlencode',
    description: 'Percent-encoded, for a part of a URL.',
    example: { template: '{{q | urlencode}}', data: { q: 'a&b c' }, output: 'a%26b%20c' },
    compile: onText((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'))),
  },
  {
    name: 'raw',
    description:
      'Only in the text of SEND_NOTIFICATION, as the last filter: the value is not escaped, so that its markup works.',
    example: {
      template: 'See {{link | raw}}',
      data: { link: '<https://crm.example.com/7|lead 7>' },
      output: 'See <https://crm.example.com/7|lead 7>',
    },
    compile: (argument) => (argument ? 'accepts no argument' : (value) => value),
  },
]

export const filters: ReadonlyMap<string, FilterCompiler> = new Map(
  filterDefinitions.map(({ name, compile }) => [name, compile]),
)

/** Writes a value as text: nothing for null and undefined, JSON for objects, no exponent. Throws where JSON.stringify does. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return writeNumber(value)
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? (toJson(value) ?? '') : String(value)
}

function toJson(value: unknown): string | undefined {
  return JSON.stringify(value)
}

function onText(change: (text: string) => string): FilterCompiler {
  return (argument) => {
    if (argument) return 'accepts no argument'
    return (value, { write }) => (isNothing(value) ? value : change(write(value)))
  }
}

function compileDefault(argument: Argument | undefined): Filter | string {
  if (!argument) return 'needs an argument, such as default:"friend"'
  if (!argument.isQuoted && !Number.isNaN(toNumber(argument.text)) && isLongNumber(argument.text))
    return 'accepts no number with that many digits: write it as a text in quotes'
  const field = fieldOf(argument)
  if (field === undefined) {
    const replacement = argument.isQuoted ? argument.text : readLiteral(argument.text)
    return (value) => (isNothing(value) || value === '' ? replacement : value)
  }
  if (!parsePath(field)) return 'accepts a text in quotes or a field, such as default:"friend"'
  const path = compilePath(field)
  return (value, { data }) => (isNothing(value) || value === '' ? (readPath(path, data) ?? value) : value)
}

/** The field that an argument without quotes names. Undefined if it is a literal. */
export function fieldOf({ text, isQuoted }: Argument): string | undefined {
  return isQuoted || readLiteral(text) !== undefined ? undefined : text
}

/** Bare true, false, null and numbers are literals, so that a lone placeholder keeps its type with a default, too. */
function readLiteral(text: string): number | boolean | null | undefined {
  if (text === 'null') return null
  if (text === 'true' || text === 'false') return text === 'true'
  const number = toNumber(text)
  return Number.isNaN(number) ? undefined : number
}

function compileTruncate(argument: Argument | undefined): Filter | string {
  const length = toNumber(argument?.text)
  if (!Number.isInteger(length) || length < 1 || length > maxTruncatedLength)
    return `needs a length from 1 to ${maxTruncatedLength}, such as truncate:80`
  return (value, { write, charge }) => {
    if (isNothing(value)) return value
    // Of a text only the beginning is read.
    return truncateText(typeof value === 'string' ? value : write(value), length, charge)
  }
}

function compileNumber(argument: Argument | undefined): Filter | string {
  const decimals = argument ? toNumber(argument.text) : undefined
  if (decimals !== undefined && !(Number.isInteger(decimals) && decimals >= 0 && decimals <= maxDecimals))
    return `accepts a number of decimals from 0 to ${maxDecimals}, such as number:2`
  return (value, { warn }) => {
    if (isNothing(value)) return value
    const number = toNumber(value)
    if (Number.isNaN(number)) {
      warn('is not a number')
      return value
    }
    if (decimals !== undefined) return roundDecimal(value as number | string, decimals)
    if (typeof value === 'number' || keepsDigits(value as string)) return number
    warn('has more digits than a number keeps')
    return value
  }
}

function compileDate(argument: Argument | undefined): Filter | string {
  const format = argument?.text
  if (format !== undefined && !/^(?:YYYY|MM|DD|HH|mm|ss|SSS|[TZ]|[^A-Za-z])+$/.test(format))
    return 'accepts a format of YYYY, MM, DD, HH, mm, ss and SSS, such as date:YYYY-MM-DD'
  return (value, { warn }) => {
    if (isNothing(value)) return value
    const milliseconds = readTime(value)
    if (Number.isNaN(milliseconds)) {
      warn(`is not a date, because ${findTimeFault(value)}: date reads ${timeForms}`)
      return value
    }
    const date = new Date(milliseconds)
    return format === undefined ? date.toISOString() : formatDate(date, format)
  }
}

/** Always UTC: the time zone of a worker must not change the text. */
function formatDate(date: Date, format: string): string {
  const parts: Record<string, string> = {
    YYYY: String(date.getUTCFullYear()).padStart(4, '0'),
    MM: pad(date.getUTCMonth() + 1),
    DD: pad(date.getUTCDate()),
    HH: pad(date.getUTCHours()),
    mm: pad(date.getUTCMinutes()),
    ss: pad(date.getUTCSeconds()),
    SSS: pad(date.getUTCMilliseconds(), 3),
  }
  return format.replace(/YYYY|MM|DD|HH|mm|ss|SSS/g, (token) => parts[token] ?? token)
}

function pad(number: number, digits = 2): string {
  return String(number).padStart(digits, '0')
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}
