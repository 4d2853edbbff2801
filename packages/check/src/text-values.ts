import { readTime, toNumber } from '@automation/engine'
import type { Atom } from './atoms.js'
import type { Constants } from './constants.js'
import { toDecimal } from './number-values.js'

/** Texts that are in no constant: numbers with other zeros, times, and a word. */
export function listPlainTexts(
  constants: Constants,
  numbers: readonly number[],
): { times: string[]; others: string[] } {
  const { texts, instants, hasTime, hasNumeric, shapes, patterns } = constants
  const times = hasTime
    ? [...instants]
        .flatMap((instant) => [instant, instant - 1, instant + 1])
        .flatMap((instant) => writeTime(instant, texts))
    : []
  const isTold = texts.size > 0 || hasTime || shapes.length + patterns.length > 0
  const numerals = hasNumeric && isTold ? numbers.map((number) => writeNumeral(number, texts)) : []
  return { times: [...new Set(times)], others: [...numerals, findFreshText(texts)] }
}

const maxTexts = 2_000
/** Of all texts together. */
const maxCharacters = 4_000_000
/** Writing so many characters takes as long as a unit of work. */
const charactersPerUnit = 50

/**
 * Texts for each way in which the atoms on parts of texts can hold together: a beginning, an end, and for each atom one text that it
 * looks for. What else a text contains makes no more of them false.
 *
 * @param spend charges the texts before they are made. @returns false if they must not be made
 * @returns undefined where there are too many ways, or no character is left that could stand between two texts
 */
export function listShapedTexts(
  { shapes, texts }: Constants,
  spend: (units: number) => boolean,
): string[] | undefined {
  if (shapes.length === 0) return []
  const length = shapes.flatMap(({ value }) => value as unknown[]).join('').length
  const count = countShapedTexts(shapes)
  if (count > Math.min(maxTexts, maxCharacters / (length + 1))) return undefined
  if (!spend(count + (count * length) / charactersPerUnit)) return undefined
  const filler = findFiller(shapes, texts)
  if (filler === undefined) return undefined
  const starts: string[] = ['']
  const ends: string[] = ['']
  let middles: string[][] = [[]]
  for (const { operator, value } of shapes) {
    if (operator === 'starts_with') starts.push(value as string)
    else if (operator === 'ends_with') ends.push(value as string)
    else
      middles = middles.flatMap((middle) => [
        middle,
        ...listParts(operator, value).map((parts) => [...middle, ...parts]),
      ])
  }
  return starts.flatMap((start) =>
    ends.flatMap((end) =>
      middles.map((parts) => start + [filler, ...parts.map((part) => part + filler)].join('') + end),
    ),
  )
}

function countShapedTexts(shapes: readonly Atom[]): number {
  const countOf = (operator: string) => shapes.filter((shape) => shape.operator === operator).length
  const middles = shapes.filter(({ operator }) => operator.startsWith('contains'))
  return middles.reduce(
    (product, { operator, value }) => product * (1 + listParts(operator, value).length),
    (1 + countOf('starts_with')) * (1 + countOf('ends_with')),
  )
}

/** The texts of which a text must have one, each with those that it needs beside. */
function listParts(operator: string, value: unknown): string[][] {
  const values = operator === 'contains' ? [value] : (value as unknown[])
  const texts = values.filter((item) => typeof item === 'string')
  if (operator === 'contains_all') return texts.length === values.length ? [texts] : []
  return texts.map((text) => [text])
}

/** A character that no constant has; a rule has room for each that there is. */
function findFiller(shapes: readonly Atom[], texts: ReadonlySet<string>): string | undefined {
  const all = [...shapes.flatMap(({ value }) => value), ...texts].join('')
  return [...'xyzqwjkXYZ-_~ '].find((character) => !all.includes(character)) ?? findFreeLetter(all)
}

function findFreeLetter(all: string): string | undefined {
  const used = new Set(all)
  for (let code = 0x100; code < 0xd800; code++) {
    const character = String.fromCharCode(code)
    if (!used.has(character)) return character
  }
  return undefined
}

function findFreshText(texts: ReadonlySet<string>): string {
  let fresh = 'x'
  while (texts.has(fresh)) fresh += 'x'
  return fresh
}

/** A text that is this number, and none of the constants. */
function writeNumeral(number: number, texts: ReadonlySet<string>): string {
  let numeral = toDecimal(number)
  while (texts.has(numeral)) numeral += numeral.match(/\./) ? '0' : '.0'
  return Object.is(toNumber(numeral), number) || toNumber(numeral) === number ? numeral : findFreshText(texts)
}

/** None where the year does not have four digits. */
function writeTime(instant: number, texts: ReadonlySet<string>): string[] {
  if (!(Math.abs(instant) <= 8.64e15)) return []
  const iso = new Date(instant).toISOString()
  const forms = [iso, iso.replace('Z', '+00:00'), iso.replace('Z', '00Z'), iso.replace('Z', '000Z')]
  const form = forms.find((text) => !texts.has(text) && readTime(text) === instant)
  return form === undefined ? [] : [form]
}
