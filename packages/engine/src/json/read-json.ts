import type { Fault } from '../fault.js'
import { scanJson, shortestLong } from './scan-json.js'

/** A number of JSON that has more digits than a double keeps. */
export interface LongNumber {
  /** Its path, such as `data.items[0].id`. */
  field: string
  /** It became a text with the same digits. Otherwise it is the nearest double. */
  isText: boolean
}

/**
 * Reads JSON. A number whose digits a double cannot keep becomes a text with the same digits.
 *
 * @param takesText whether a path may have a text for a number; elsewhere the number stays the nearest double. Default: each may
 * @throws SyntaxError
 */
export function readJson(
  text: string,
  takesText: (field: string) => boolean = () => true,
): { value: unknown; longNumbers: LongNumber[] } {
  const value: unknown = JSON.parse(text)
  return mayHaveLongNumber(text)
    ? keepDigits(value, JSON.parse(scanJson(text).exact), takesText)
    : { value, longNumbers: [] }
}

/** Looks at each sixteenth character only, so that a text without a long run of digits costs next to nothing. */
export function mayHaveLongNumber(text: string): boolean {
  for (let at = shortestLong - 1; at < text.length; at += shortestLong) {
    if (!isDigitOrPoint(text, at)) continue
    let start = at
    while (isDigitOrPoint(text, start - 1)) start--
    while (isDigitOrPoint(text, at + 1)) at++
    if (at - start + 1 >= shortestLong && opensNumber(text, start)) return true
  }
  // The smallest doubles have fewer digits.
  return /e-\d{3}/i.test(text)
}

/**
 * Merges two readings of one text.
 *
 * @param value has doubles for long numbers. It is changed
 * @param exact the same with texts
 */
export function keepDigits(
  value: unknown,
  exact: unknown,
  takesText: (field: string) => boolean,
): { value: unknown; longNumbers: LongNumber[] } {
  const root = { value }
  const longNumbers: LongNumber[] = []
  const pending: { holder: object; exact: object; path: string }[] = [
    { holder: root, exact: { value: exact }, path: '' },
  ]
  // A loop with its own list handles any depth that JSON.parse handles.
  for (let next = pending.pop(); next; next = pending.pop()) {
    const holder = next.holder as Record<string, unknown>
    for (const [key, text] of Object.entries(next.exact)) {
      const held = holder[key]
      const field = holder === (root as object) ? '' : joinField(next.path, key, Array.isArray(holder))
      if (typeof held === 'object' && held !== null)
        pending.push({ holder: held, exact: text as object, path: field })
      else if (typeof held === 'number' && typeof text === 'string') {
        const isText = takesText(field)
        if (isText) holder[key] = text
        longNumbers.push({ field, isText })
      }
    }
  }
  return { value: root.value, longNumbers }
}

/** What the sender of data is told of the numbers that became texts. */
export function listLongWarnings(longNumbers: readonly LongNumber[]): Fault[] {
  const message = 'Has more digits than a number can keep, so it was stored as a string with the same digits'
  return longNumbers.filter(({ isText }) => isText).map(({ field }) => ({ field, message }))
}

/** What the author of a rule is told of the numbers that became none. */
export function listLongFaults(longNumbers: readonly LongNumber[]): Fault[] {
  const message = 'Has more digits than a number can keep. Write it as a string, or with at most 15 digits'
  return longNumbers.filter(({ isText }) => !isText).map(({ field }) => ({ field, message }))
}

function joinField(path: string, key: string, isItem: boolean): string {
  if (isItem) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

function isDigitOrPoint(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (code >= 48 && code <= 57) || code === 46
}

/** Whether a run of digits may be a number: within quotes it is a text already. */
function opensNumber(text: string, start: number): boolean {
  const before = text[start - 1] === '-' ? start - 2 : start - 1
  return before < 0 || ' \t\n\r:,['.includes(text[before] as string)
}
