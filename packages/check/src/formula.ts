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
  return combine('all', formulas)
}

export function anyOf(formulas: readonly Formula[]): Formula {
  return combine('any', formulas)
}

/** Literals of one variable become one. A false part decides an `all`, and a true one an `any`. */
function combine(kind: 'all' | 'any', formulas: readonly Formula[]): Formula {
  const isAll = kind === 'all'
  const literals = new Map<number, Bits>()
  const rest: Formula[] = []
  for (const formula of formulas.flatMap((one) => listParts(one, kind))) {
    if (formula === !isAll) return formula
    if (formula === isAll) continue
    if (!isLiteral(formula)) {
      rest.push(formula)
      continue
    }
    const known = literals.get(formula.variable)
    const bits = known === undefined ? formula.bits : (isAll ? intersect : unite)(known, formula.bits)
    if (isAll && isEmpty(bits)) return false
    literals.set(formula.variable, bits)
  }
  const parts: Formula[] = [...[...literals].map(([variable, bits]) => ({ variable, bits })), ...rest]
  if (parts.length === 0) return isAll
  if (parts.length === 1) return parts[0] as Formula
  return isAll ? { all: parts } : { any: parts }
}

/** Those of a formula of the same kind. */
function listParts(formula: Formula, kind: 'all' | 'any'): readonly Formula[] {
  if (typeof formula !== 'object') return [formula]
  if (kind === 'all') return 'all' in formula ? formula.all : [formula]
  return 'any' in formula ? formula.any : [formula]
}

export function isLiteral(formula: Formula): formula is Literal {
  return typeof formula === 'object' && 'bits' in formula
}
