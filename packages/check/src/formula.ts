import { type Condition, isLeaf, type Leaf, partsOf } from '@automation/engine'
import type { Atoms } from './atoms.js'
import { type Bits, intersect, isEmpty, unite } from './bits.js'
import type { Literal, Space } from './space.js'

/** Conditions over the candidates of a space. Negations are in the literals. */
export type Formula = boolean | Literal | { all: readonly Formula[] } | { any: readonly Formula[] }

/** Finds the literal of a clause or a list, or the constant that it is. */
export type Translate = (leaf: Leaf, isNegated: boolean) => Formula

export function translateWith(atoms: Atoms, space: Space): Translate {
  return (leaf, isNegated) => {
    const found = atoms.find(leaf)
    return space.literal(found.atom, found.isNegated !== isNegated)
  }
}

/** @param replaced conditions of which the verdict is assumed */
export function formulaOf(
  condition: Condition,
  translate: Translate,
  isNegated = false,
  replaced?: ReadonlyMap<Condition, boolean>,
): Formula {
  const assumed = replaced?.get(condition)
  if (assumed !== undefined) return assumed !== isNegated
  if ('not' in condition) return formulaOf(condition.not, translate, !isNegated, replaced)
  if (isLeaf(condition)) return translate(condition, isNegated)
  const children = partsOf(condition).map((part) => formulaOf(part.condition, translate, isNegated, replaced))
  return 'all' in condition !== isNegated ? allOf(children) : anyOf(children)
}

export function allOf(formulas: readonly Formula[]): Formula {
  const literals = new Map<number, Bits>()
  const rest: Formula[] = []
  for (const formula of formulas.flatMap((one) =>
    typeof one === 'object' && 'all' in one ? one.all : [one],
  )) {
    if (formula === false) return false
    if (formula === true) continue
    if (!isLiteral(formula)) {
      rest.push(formula)
      continue
    }
    const known = literals.get(formula.variable)
    const bits = known === undefined ? formula.bits : intersect(known, formula.bits)
    if (isEmpty(bits)) return false
    literals.set(formula.variable, bits)
  }
  return group('all', literals, rest, true)
}

export function anyOf(formulas: readonly Formula[]): Formula {
  const literals = new Map<number, Bits>()
  const rest: Formula[] = []
  for (const formula of formulas.flatMap((one) =>
    typeof one === 'object' && 'any' in one ? one.any : [one],
  )) {
    if (formula === true) return true
    if (formula === false) continue
    if (!isLiteral(formula)) {
      rest.push(formula)
      continue
    }
    const known = literals.get(formula.variable)
    literals.set(formula.variable, known === undefined ? formula.bits : unite(known, formula.bits))
  }
  return group('any', literals, rest, false)
}

export function isLiteral(formula: Formula): formula is Literal {
  return typeof formula === 'object' && 'bits' in formula
}

function group(
  kind: 'all' | 'any',
  literals: ReadonlyMap<number, Bits>,
  rest: Formula[],
  empty: boolean,
): Formula {
  const parts: Formula[] = [...[...literals].map(([variable, bits]) => ({ variable, bits })), ...rest]
  if (parts.length === 0) return empty
  if (parts.length === 1) return parts[0] as Formula
  return kind === 'all' ? { all: parts } : { any: parts }
}
