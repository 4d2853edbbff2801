import { intersects } from './bits.js'
import { type Formula, isLiteral } from './formula.js'

/** Finds most pairs that exclude one another in well under a microsecond: those with literals of one path that do. */
export function compareFast(first: Formula, second: Formula): 'disjoint' | 'unknown' {
  if (first === false || second === false) return 'disjoint'
  for (const one of literalsOf(first)) {
    if (!isLiteral(one)) continue
    for (const other of literalsOf(second)) {
      if (isLiteral(other) && one.variable === other.variable && !intersects(one.bits, other.bits))
        return 'disjoint'
    }
  }
  return 'unknown'
}

const none: readonly Formula[] = []
const singles = new WeakMap<object, readonly Formula[]>()

function literalsOf(formula: Formula): readonly Formula[] {
  if (typeof formula === 'boolean') return none
  if ('all' in formula) return formula.all
  if (!isLiteral(formula)) return none
  let single = singles.get(formula)
  if (single === undefined) {
    single = [formula]
    singles.set(formula, single)
  }
  return single
}
