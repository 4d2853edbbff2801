import { countEdits } from './edit-distance.js'
import type { Evaluation } from './evaluation.js'

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

/** Finds the names that are nearest to an unknown word, the nearest first. */
export function findNearest(word: string, names: readonly string[], count = 3): string[] {
  return rank(word, names)
    .slice(0, count)
    .map(({ name }) => name)
}

/** Finds the name that an unknown word was probably meant to be: at most every third character differs. */
export function findMisspelt(word: string, names: readonly string[]): string | undefined {
  const plain = plainOf(word)
  const [nearest] = names
    .map((name) => ({ name, distance: countEdits(plain, plainOf(name)) }))
    .sort((one, other) => one.distance - other.distance)
  return nearest && nearest.distance <= plain.length / 3 ? nearest.name : undefined
}

/**
 * Finds the nearest of some names that a text with upper and lower case may have meant: at most two letters differ, and at most half of
 * them. Names that differ in case only are nearest.
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
  let least = 3
  for (const name of names) {
    if (name === text) continue
    if (evaluation?.spend(unitsToCompare(text, name)) === false) return undefined
    const edits = name.toLowerCase() === folded ? 0 : countEdits(text, name, least)
    if (edits >= least || edits * 2 > text.length) continue
    nearest = name
    least = edits
  }
  return nearest
}

/** A cell of the table of edits is a third of a unit. Texts of different lengths are not compared. */
function unitsToCompare(text: string, name: string): number {
  return Math.abs(text.length - name.length) > 2 ? 1 : 1 + (text.length * name.length) / 3
}

/**
 * The second half of a message about an unknown word: `Nearest: equals, not_equals. All: /docs/rules#clauses`.
 *
 * @param list where all of them stand
 */
export function describeNearest(word: string, names: readonly string[], list?: string): string {
  const nearest = findNearest(word, names)
  if (nearest.length === 0) return 'There are none here'
  return `Nearest: ${nearest.join(', ')}${list === undefined ? '' : `. All: ${list}`}`
}

function rank(word: string, names: readonly string[]): { name: string; distance: number }[] {
  const plain = plainOf(word)
  const meant = Object.hasOwn(otherSpellings, plain) ? otherSpellings[plain] : undefined
  return names
    .map((name) => ({ name, distance: name === meant ? 0.01 : distanceOf(plain, plainOf(name)) }))
    .sort((one, other) => one.distance - other.distance)
}

/** Without case and separators: greaterThan, GREATER-THAN and greater_than are one spelling. */
function plainOf(text: string): string {
  const cut = text.slice(0, maxCompared).toLowerCase()
  return cut.replace(/[\s_.-]/g, '') || cut
}

/** The share of letters that differ. A word that is a part of the other one is nearer than its missing letters say. */
function distanceOf(one: string, other: string): number {
  const edits = countEdits(one, other) / Math.max(one.length, other.length)
  const isPart = one.length > 2 && other.length > 2 && (one.includes(other) || other.includes(one))
  return isPart ? edits / 3 : edits
}
