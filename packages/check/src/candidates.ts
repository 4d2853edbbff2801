import type { Evaluation } from '@automation/engine'
import type { Atom } from './atoms.js'
import { collectConstants } from './constants.js'
import { listLists } from './list-values.js'
import { listNumbers } from './number-values.js'
import { listPlainTexts, listShapedTexts } from './text-values.js'

/** Values of one path that stand for all values: any other value makes the same atoms hold as one of them. */
export interface Candidates {
  /** Undefined is a missing value. */
  readonly values: unknown[]
  /** Verdicts of the atoms that a value may have for all we know: no value with them was found. */
  readonly possible: boolean[][]
  /** Whether there may be values with any verdicts beyond. */
  readonly isOpen: boolean
}

/** To evaluate a candidate by an operator that charges nothing itself. */
export const unitsPerVerdict = 4

/** To find the values beside a constant, and the ways to write a time. */
const unitsPerConstant = 8
const unitsPerTime = 100

/** With more verdicts than these, all of them count as possible. */
const maxPossible = 512

/** Values for paths that placeholders read: a witness has them where the conditions allow it, so that its actions can be done. */
export type Samples = ReadonlyMap<string, unknown>

/** @param evaluation its moment is that of relative times, and all work is charged to it */
export function listCandidates(atoms: readonly Atom[], evaluation: Evaluation, samples: Samples): Candidates {
  if (!evaluation.affords(0)) return { values: [], possible: [], isOpen: true }
  const constants = collectConstants(atoms, evaluation.now)
  const spend = (units: number) => evaluation.spend(units)
  const count = constants.texts.size + constants.numbers.size + countItems(constants.lists)
  if (!spend(count * unitsPerConstant + constants.instants.size * unitsPerTime))
    return { values: [], possible: [], isOpen: true }
  const numbers = listNumbers(constants)
  const shaped = listShapedTexts(constants, spend)
  const lists = listLists(constants.lists, spend)
  const { times, others } = listPlainTexts(constants, numbers ?? [])
  const sample = samples.get(atoms[0]?.path ?? '')
  const values = [
    ...(sample === undefined ? [] : [sample]),
    ...constants.texts,
    ...times,
    ...(numbers ?? []),
    ...(shaped ?? []),
    ...(lists ?? []),
    ...others,
    ...['', true, false, [], { other: 1 }, {}, null, undefined],
  ]
  const { shapes, patterns, hasNumeric, hasTime, hasUnknown } = constants
  const isOpen = hasUnknown || numbers === undefined || shaped === undefined || lists === undefined
  // Texts of one part, or of numbers and times alone, are all there.
  if (isOpen || (patterns.length === 0 && (shapes.length === 0 || !(hasNumeric || hasTime))))
    return { values, possible: [], isOpen }
  const possible = combineTexts(atoms, [...times, ...others], shaped ?? [], evaluation)
  return { values, possible: possible ?? [], isOpen: possible === undefined }
}

/**
 * The verdicts that a text may have: those of a number, a time or a word in the atoms that compare these, with those of any shape in
 * the atoms on parts of texts, and with either verdict of each pattern.
 */
function combineTexts(
  atoms: readonly Atom[],
  plain: readonly string[],
  shaped: readonly string[],
  evaluation: Evaluation,
): boolean[][] | undefined {
  const isPart = atoms.map(({ operator }) =>
    /^(?:starts_with|ends_with|contains|contains_any|contains_all)$/.test(operator),
  )
  const isPattern = atoms.map(({ operator }) => operator === 'matches')
  if (!evaluation.spend((plain.length * 2 + shaped.length) * atoms.length * unitsPerVerdict)) return undefined
  const evaluate = (text: string) => atoms.map((atom) => atom.test(text, evaluation))
  const wholes = distinct(plain.map(evaluate), (_, index) => !isPart[index] && !isPattern[index])
  const parts = distinct([...plain, ...shaped].map(evaluate), (_, index) => isPart[index] === true)
  const count = wholes.length * parts.length * 2 ** isPattern.filter(Boolean).length
  if (count > maxPossible || !evaluation.spend(count * atoms.length)) return undefined
  let vectors = wholes.flatMap((whole) =>
    parts.map((part) => whole.map((verdict, index) => (isPart[index] ? part[index] === true : verdict))),
  )
  for (const [index, isOne] of isPattern.entries()) {
    if (!isOne) continue
    vectors = vectors.flatMap((vector) => [vector.with(index, false), vector.with(index, true)])
  }
  return vectors
}

function countItems(lists: readonly Atom[]): number {
  return lists.reduce((sum, { value }) => sum + (Array.isArray(value) ? value.length : 1), 0)
}

/** Vectors that differ in the elements that count. */
function distinct(vectors: boolean[][], counts: (verdict: boolean, index: number) => boolean): boolean[][] {
  const known = new Map<string, boolean[]>()
  for (const vector of vectors) {
    const key = vector.map((verdict, index) => (counts(verdict, index) && verdict ? '1' : '0')).join('')
    if (!known.has(key)) known.set(key, vector)
  }
  return [...known.values()]
}
