import { cutText } from '@automation/engine'

/** Of one result, about 15,000 tokens. */
export const maxCharacters = 60_000

/**
 * Reads a page that fits: one that is too long is asked for again with as many rows as fit, so its cursor is that of the last row that is shown.
 *
 * @param maxRows the largest limit that may be asked for
 */
export async function readFittingPage(
  read: (limit?: number) => Promise<unknown>,
  maxRows: number,
): Promise<unknown> {
  let page = await read()
  for (;;) {
    const rows = findRows(page)
    const fitting = rows && countFitting(page, rows)
    if (rows === undefined || fitting === undefined || fitting >= rows.length) return page
    page = await read(Math.min(fitting, maxRows))
  }
}

/** The only list of a page. */
function findRows(page: unknown): unknown[] | undefined {
  const [rows, ...others] = Object.values(page ?? {}).filter(Array.isArray)
  return others.length === 0 ? rows : undefined
}

/** @returns undefined if all of them fit; at least 1, of which the long texts are cut */
function countFitting(page: unknown, rows: unknown[]): number | undefined {
  const lengths = rows.map((row) => writeVisibly(row).length + 1)
  const whole = writeVisibly(page).length
  if (whole <= maxCharacters) return undefined
  let free = maxCharacters - whole + lengths.reduce((sum, length) => sum + length, 0)
  const end = lengths.findIndex((length) => {
    free -= length
    return free < 0
  })
  return end < 0 ? undefined : Math.max(1, end)
}

export interface FittedData {
  /** JSON. */
  json: string
  /** Whether something was cut. */
  isCut: boolean
}

/** The longest texts are cut first; the ends of long lists and objects go only if that does not suffice. Each cut is marked where it is. */
export function fitData(value: unknown): FittedData {
  const json = writeVisibly(value)
  if (json.length <= maxCharacters) return { json, isCut: false }
  for (const [text, items] of steps) {
    const shorter = writeVisibly(shorten(value, text, items))
    if (shorter.length <= maxCharacters) return { json: shorter, isCut: true }
  }
  return { json: writeVisibly('… more than a result can have'), isCut: true }
}

/** The longest text, and the longest list or object. */
const steps: [text: number, items: number][] = [
  ...[10_000, 3_000, 1_000, 300, 100].map((text): [number, number] => [text, Number.POSITIVE_INFINITY]),
  ...[1_000, 300, 100, 30, 10, 3, 1].map((items): [number, number] => [100, items]),
]

function shorten(value: unknown, maxText: number, maxItems: number): unknown {
  if (typeof value === 'string') return shortenText(value, maxText)
  if (typeof value !== 'object' || value === null) return value
  const more = (count: number, noun: string) => `… ${count} more ${noun}`
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shorten(item, maxText, maxItems))
    const rest = value.length - items.length
    return rest > 0 ? [...items, more(rest, 'items')] : items
  }
  const entries = Object.entries(value)
  const kept = entries
    .slice(0, maxItems)
    .map(([key, part]) => [key, shorten(part, maxText, maxItems)] as const)
  const rest = entries.length - kept.length
  // A spread defines keys and never assigns them.
  return { ...Object.fromEntries(kept), ...(rest > 0 && { '…': more(rest, 'fields') }) }
}

function shortenText(text: string, maxText: number): string {
  return cutText(text, maxText, `… (cut: ${text.length} characters in all)`)
}

function writeVisibly(value: unknown): string {
  return showHidden(JSON.stringify(value) ?? 'null')
}

/** Characters that people do not see could carry instructions that only an assistant reads. */
export function showHidden(text: string): string {
  return text.replaceAll(/(?!\n)[\p{C}\p{Default_Ignorable_Code_Point}]/gu, (hidden) =>
    hidden
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
