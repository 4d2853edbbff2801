import type { WorkBudget } from '@automation/engine'
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
/** To combine so many words of bits takes as long as a unit of work. */
const wordsPerUnit = 8
const unitsPerStep = 20

/** Finds out whether all formulas can hold together. */
export function solve(formulas: readonly Formula[], space: Space): Answer {
  if (space.budget.isOver) return { is: 'unknown' }
  const real = search(formulas, space, true)
  if (real === 'too much') return { is: 'unknown' }
  if (real !== undefined) return { is: 'possible', chosen: chooseFirst(real) }
  if (space.variables.every(({ isExact }) => isExact)) return { is: 'impossible' }
  return search(formulas, space, false) === undefined ? { is: 'impossible' } : { is: 'unknown' }
}

/** How many alternatives may still be looked at; each is charged to the check. */
class Steps {
  readonly #work: WorkBudget
  #left = maxSteps

  constructor(work: WorkBudget) {
    this.#work = work
  }

  get isOver(): boolean {
    return this.#left < 0 || this.#work.overrun !== null
  }

  /** @returns false where there are none left */
  take(): boolean {
    this.#left--
    this.#work.charge(unitsPerStep)
    return !this.isOver
  }

  /** Charges the comparison of two sets of candidates. */
  compare(bits: Bits): void {
    this.#work.charge(1 + bits.length / wordsPerUnit)
  }
}

type Domains = ReadonlyMap<number, Bits>

function search(
  formulas: readonly Formula[],
  space: Space,
  isReal: boolean,
): Domains | 'too much' | undefined {
  const steps = new Steps(space.budget)
  const found = extend(new Map(), formulas, [], steps, (variable) =>
    isReal ? space.variables[variable]?.real : undefined,
  )
  return steps.isOver && found === undefined ? 'too much' : found
}

/** Adds formulas to what is known of the variables, and branches where one of several has to hold. */
function extend(
  known: Domains,
  formulas: readonly Formula[],
  alternatives: readonly (readonly Formula[])[],
  steps: Steps,
  limitOf: (variable: number) => Bits | undefined,
): Domains | undefined {
  if (!steps.take()) return undefined
  const domains = new Map(known)
  const open = [...alternatives]
  const queue = [...formulas]
  for (let formula = queue.pop(); formula !== undefined; formula = queue.pop()) {
    if (formula === false) return undefined
    if (formula === true) continue
    if (isLiteral(formula)) {
      steps.compare(formula.bits)
      const before = domains.get(formula.variable) ?? limitOf(formula.variable)
      const bits = before === undefined ? formula.bits : intersect(before, formula.bits)
      if (isEmpty(bits)) return undefined
      domains.set(formula.variable, bits)
    } else if ('all' in formula) queue.push(...formula.all)
    else open.push(formula.any)
  }
  return branch(domains, open, steps, limitOf)
}

function branch(
  domains: Domains,
  open: readonly (readonly Formula[])[],
  steps: Steps,
  limitOf: (variable: number) => Bits | undefined,
): Domains | undefined {
  const isExcluded = (formula: Formula) => {
    if (!isLiteral(formula)) return false
    steps.compare(formula.bits)
    return !intersects(domainOf(formula.variable, formula.bits), formula.bits)
  }
  const isCertain = (formula: Formula) => {
    if (!isLiteral(formula)) return formula === true
    steps.compare(formula.bits)
    const domain = domains.get(formula.variable)
    return domain !== undefined && isSubset(domain, formula.bits)
  }
  const domainOf = (variable: number, bits: Bits) => domains.get(variable) ?? limitOf(variable) ?? bits
  const left = open.filter((any) => !any.some(isCertain)).map((any) => any.filter((one) => !isExcluded(one)))
  const [first, ...rest] = left.sort((one, other) => one.length - other.length)
  if (first === undefined) return domains
  for (const formula of first) {
    const found = extend(domains, [formula], rest, steps, limitOf)
    if (found !== undefined || steps.isOver) return found
  }
  return undefined
}

function chooseFirst(domains: Domains): Map<number, number> {
  return new Map([...domains].map(([variable, bits]) => [variable, firstBit(bits)]))
}
