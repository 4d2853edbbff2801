import { type Bits, firstBit, intersect, intersects, isEmpty, isSubset } from './bits.js'
import { type Formula, isLiteral } from './formula.js'
import type { Space } from './space.js'

/** Yes: with these candidates of the variables. Unknown: with no known values, and it could not be excluded. */
export type Answer =
  | { is: 'possible'; chosen: Map<number, number> }
  | { is: 'impossible' }
  | { is: 'unknown' }

/** With more alternatives than these nothing is known. */
const maxSteps = 4_096

/** Finds out whether all formulas can hold together. */
export function solve(formulas: readonly Formula[], space: Space): Answer {
  const real = search(formulas, space, true)
  if (real === 'too much') return { is: 'unknown' }
  if (real !== undefined) return { is: 'possible', chosen: chooseFirst(real) }
  if (space.variables.every(({ isExact }) => isExact)) return { is: 'impossible' }
  return search(formulas, space, false) === undefined ? { is: 'impossible' } : { is: 'unknown' }
}

type Domains = ReadonlyMap<number, Bits>

function search(
  formulas: readonly Formula[],
  space: Space,
  isReal: boolean,
): Domains | 'too much' | undefined {
  const budget = { steps: maxSteps }
  const found = extend(new Map(), formulas, [], budget, (variable) =>
    isReal ? space.variables[variable]?.real : undefined,
  )
  return budget.steps < 0 && found === undefined ? 'too much' : found
}

/** Adds formulas to what is known of the variables, and branches where one of several has to hold. */
function extend(
  known: Domains,
  formulas: readonly Formula[],
  alternatives: readonly (readonly Formula[])[],
  budget: { steps: number },
  limitOf: (variable: number) => Bits | undefined,
): Domains | undefined {
  if (budget.steps-- < 0) return undefined
  const domains = new Map(known)
  const open = [...alternatives]
  const queue = [...formulas]
  for (let formula = queue.pop(); formula !== undefined; formula = queue.pop()) {
    if (formula === false) return undefined
    if (formula === true) continue
    if (isLiteral(formula)) {
      const before = domains.get(formula.variable) ?? limitOf(formula.variable)
      const bits = before === undefined ? formula.bits : intersect(before, formula.bits)
      if (isEmpty(bits)) return undefined
      domains.set(formula.variable, bits)
    } else if ('all' in formula) queue.push(...formula.all)
    else open.push(formula.any)
  }
  return branch(domains, open, budget, limitOf)
}

function branch(
  domains: Domains,
  open: readonly (readonly Formula[])[],
  budget: { steps: number },
  limitOf: (variable: number) => Bits | undefined,
): Domains | undefined {
  const isExcluded = (formula: Formula) =>
    isLiteral(formula) && !intersects(domainOf(formula.variable, formula.bits), formula.bits)
  const isCertain = (formula: Formula) => {
    if (!isLiteral(formula)) return formula === true
    const domain = domains.get(formula.variable)
    return domain !== undefined && isSubset(domain, formula.bits)
  }
  const domainOf = (variable: number, bits: Bits) => domains.get(variable) ?? limitOf(variable) ?? bits
  const left = open.filter((any) => !any.some(isCertain)).map((any) => any.filter((one) => !isExcluded(one)))
  const [first, ...rest] = left.sort((one, other) => one.length - other.length)
  if (first === undefined) return domains
  for (const formula of first) {
    const found = extend(domains, [formula], rest, budget, limitOf)
    if (found !== undefined || budget.steps < 0) return found
  }
  return undefined
}

function chooseFirst(domains: Domains): Map<number, number> {
  return new Map([...domains].map(([variable, bits]) => [variable, firstBit(bits)]))
}
