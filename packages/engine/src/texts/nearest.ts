import type { Evaluation } from '../work/evaluation.js'
import { cutText } from './cut-text.js'
import { countEdits } from './edit-distance.js'

/** What authors write who come from other tools, and the name here. */
const otherSpellings: Record<string, string> = {
  '=': 'equals',
  '==': 'equals',
  '===': 'equals',
  is: 'equals',
  '!=': 'not_equals',
  '<>': 'not_equals',
  '>': 'greater_than',
  '>=': 'greater_than_or_equal',
  '<': 'less_than',
  '<=': 'less_than_or_equal',
  above: 'greater_than',
  biggerthan: 'greater_than',
  below: 'less_than',
  smallerthan: 'less_than',
  includes: 'contains',
  regex: 'matches',
  email: 'SEND_EMAIL',
  sendmail: 'SEND_EMAIL',
  httprequest: 'SEND_WEBHOOK',
  webhook: 'SEND_WEBHOOK',
  slack: 'SEND_NOTIFICATION',
  delay: 'WAIT',
  sleep: 'WAIT',
  trigger: 'EMIT_EVENT',
}

/** No name is longer. The distance of two long texts takes long. */
const maxCompared = 64

/**
 * Finds the names that an unknown word was perhaps meant to be, the nearest first: those that are spelt almost the same (isNear), and those
 * that begin or end with it or it with them. Neither case nor separators count.
 */
export function findNearest(word: string, names: readonly string[]): string[] {
  const plain = plainOf(word)
  const meant = Object.hasOwn(otherSpellings, plain) ? otherSpellings[plain] : undefined
  return names
    .flatMap((name) => {
      const edits = name === meant ? 0 : countEdits(plain, plainOf(name), mostEdits + 1)
      return isNear(edits, plain) || isPart(plain, plainOf(name)) ? [{ name, edits }] : []
    })
    .sort((one, other) => one.edits - other.edits)
    .slice(0, 3)
    .map(({ name }) => name)
}

/**
 * Finds the nearest of some names that a text with upper and lower case may have meant (isNear). Names that differ in case only are nearest.
 *
 * @param evaluation where it is given, the comparison is charged to it, and ends with it: then no name was found
 */
export function findSimilar(
  text: string,
  names: Iterable<string>,
  evaluation?: Evaluation,
): string | undefined {
  if (text.length > maxCompared) return undefined
  const folded = text.toLowerCase()
  let nearest: string | undefined
  let least = mostEdits + 1
  for (const name of names) {
    if (name === text) continue
    if (evaluation?.spend(unitsToCompare(text, name)) === false) return undefined
    const edits = name.toLowerCase() === folded ? 0 : countEdits(text, name, least)
    if (edits >= least || !isNear(edits, text)) continue
    nearest = name
    least = edits
  }
  return nearest
}

/** A cell of the table of edits is a third of a unit. Texts of different lengths are not compared. */
function unitsToCompare(text: string, name: string): number {
  return Math.abs(text.length - name.length) > 2 ? 1 : 1 + (text.length * name.length) / 3
}

/** So many letters may differ, and at most every third. */
const mostEdits = 2

function isNear(edits: number, text: string): boolean {
  return edits <= mostEdits && edits * 3 <= text.length
}

function isPart(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return short.length > 2 && (long.startsWith(short) || long.endsWith(short))
}

/** Of a longer list a message names the nearest only. */
export const maxListed = 10

/**
 * The second half of a message about an unknown word: `Nearest: equals, not_equals. All: /docs/rules#clauses`. Where nothing is near, all of
 * them if they are few. Undefined where there is nothing to say.
 *
 * @param list where all of them stand
 */
export function describeNearest(word: string, names: readonly string[], list: string): string
export function describeNearest(word: string, names: readonly string[], list?: string): string | undefined
export function describeNearest(word: string, names: readonly string[], list?: string): string | undefined {
  if (names.length === 0) return 'There are none here'
  const nearest = findNearest(word, names)
  const all = list ?? (nearest.length === 0 && names.length <= maxListed ? names.join(', ') : undefined)
  const parts = [nearest.length > 0 && `Nearest: ${nearest.join(', ')}`, all && `All: ${all}`].filter(Boolean)
  return parts.length === 0 ? undefined : parts.join('. ')
}

/** Without case and separators: greaterThan, GREATER-THAN and greater_than are one spelling. */
function plainOf(text: string): string {
  const cut = cutText(text, maxCompared).toLowerCase()
  return cut.replace(/[\s_.-]/g, '') || cut
}
