import { parseDuration, parseTimestamp } from '@automation/engine'
import type { Atom } from './atoms.js'

/** What the atoms of one path compare with. */
export interface Constants {
  readonly numbers: Set<number>
  readonly texts: Set<string>
  /** Epoch ms, relative times already at the moment of evaluation. */
  readonly instants: Set<number>
  /** Whether an atom compares numbers by size or equality, so that a text may count as a number. */
  hasNumeric: boolean
  hasTime: boolean
  /** Whether an operator is not known here, so that values may make it hold which are in no list of candidates. */
  hasUnknown: boolean
  /** Atoms on parts of texts. */
  readonly shapes: Atom[]
  /** Atoms on items of lists. */
  readonly lists: Atom[]
  readonly patterns: Atom[]
}

export function collectConstants(atoms: readonly Atom[], now: number): Constants {
  const found: Constants = {
    numbers: new Set(),
    texts: new Set(),
    instants: new Set(),
    hasNumeric: false,
    hasTime: false,
    hasUnknown: false,
    shapes: [],
    lists: [],
    patterns: [],
  }
  for (const atom of atoms) collect(found, atom, now)
  return found
}

/** Operators that compare a time with the moment of evaluation. */
export function isRelative({ operator }: Atom): boolean {
  return operator === 'within_last' || operator === 'within_next'
}

/** Operators that compare with no constant: the values of each kind that every path has are enough for them. */
export function hasNoConstant({ operator }: Atom): boolean {
  return operator === 'exists' || operator === 'is_empty' || operator === 'is_true' || operator === 'is_false'
}

function collect(found: Constants, atom: Atom, now: number): void {
  const { operator, value } = atom
  switch (operator) {
    case 'equals':
    case 'in':
      for (const scalar of operator === 'in' ? (value as unknown[]) : [value]) collectScalar(found, scalar)
      return
    case 'greater_than':
    case 'greater_than_or_equal':
    case 'less_than':
    case 'less_than_or_equal':
    case 'between':
      found.hasNumeric = true
      for (const number of operator === 'between' ? (value as number[]) : [value as number])
        found.numbers.add(number)
      return
    case 'before':
    case 'after':
      found.hasTime = true
      found.instants.add(parseTimestamp(value))
      return
    case 'within_last':
    case 'within_next': {
      found.hasTime = true
      const span = parseDuration(String(value)) ?? 0
      found.instants.add(now).add(operator === 'within_last' ? now - span : now + span)
      return
    }
    case 'contains':
    case 'contains_any':
    case 'contains_all':
      found.shapes.push(atom)
      found.lists.push(atom)
      return
    case 'starts_with':
    case 'ends_with':
      found.shapes.push(atom)
      return
    case 'matches':
      found.patterns.push(atom)
      return
    default:
      if (!hasNoConstant(atom)) found.hasUnknown = true
  }
}

function collectScalar(found: Constants, scalar: unknown): void {
  if (typeof scalar === 'number') {
    found.hasNumeric = true
    found.numbers.add(scalar)
  } else if (typeof scalar === 'string') found.texts.add(scalar)
}
