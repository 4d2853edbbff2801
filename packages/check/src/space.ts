import { Evaluation, type WorkBudget } from '@automation/engine'
import type { Atom } from './atoms.js'
import { type Bits, emptyBits, setBit } from './bits.js'
import { type Candidates, type Samples, unitsPerVerdict } from './candidates.js'
import { type Family, groupPaths, listFamilyCandidates } from './families.js'
import { writeValue } from './write-value.js'

/** One path, or several of which one leads into another, with the values that it may have. */
export interface Variable {
  /** The keys that lead to its value. */
  readonly keys: readonly string[]
  /** The values of the first candidates. */
  readonly values: readonly unknown[]
  /** The candidates that have a value. The others are only possible. */
  readonly real: Bits
  readonly isExact: boolean
}

/** A candidate of one variable fulfils the literal where its bit is set. */
export interface Literal {
  readonly variable: number
  readonly bits: Bits
}

interface Verdicts {
  variable: number
  holds: Bits
  fails: Bits
}

/** With more verdicts of one path than these, nothing is known about it: a set of rules must not take seconds. */
const maxVerdicts = 6_000_000
const unlimited = { rule: Number.MAX_SAFE_INTEGER, event: Number.MAX_SAFE_INTEGER }

/** The candidate values of all paths of some atoms at one moment, and for each atom the candidates for which it holds. */
export class Space {
  readonly now: number
  readonly budget: WorkBudget
  readonly variables: Variable[] = []
  readonly #verdicts = new Map<string, Verdicts>()

  /** @param budget to it all work is charged. A path that it does not reach may have any value. */
  constructor(atoms: readonly Atom[], now: number, budget: WorkBudget, samples: Samples = new Map()) {
    this.now = now
    this.budget = budget
    for (const family of groupPaths(atoms)) this.#addVariable(family, samples)
  }

  literal(atom: Atom, isNegated: boolean): Literal {
    const { variable, holds, fails } = this.#verdicts.get(atom.key) as Verdicts
    this.budget.charge(unitsPerVerdict + holds.length / 2)
    return { variable, bits: isNegated ? fails : holds }
  }

  /** Event data with one candidate for each of some variables. */
  buildData(chosen: ReadonlyMap<number, number>): Record<string, unknown> {
    const data: Record<string, unknown> = {}
    for (const [index, candidate] of chosen) {
      const { keys, values } = this.variables[index] as Variable
      writeValue(data, keys, values[candidate])
    }
    return data
  }

  #addVariable(family: Family, samples: Samples): void {
    const { atoms } = family
    const { values, possible, isOpen, verdicts } = this.#evaluateCandidates(family, samples)
    const size = values.length + possible.length + (isOpen ? 1 : 0)
    const real = emptyBits(size)
    for (let n = 0; n < values.length; n++) setBit(real, n)
    const variable = this.variables.length
    this.variables.push({ keys: family.keys, values, real, isExact: size === values.length })
    atoms.forEach((atom, index) => {
      const [holds, fails] = [emptyBits(size), emptyBits(size)]
      values.forEach((_, n) => {
        setBit(verdicts[index]?.[n] ? holds : fails, n)
      })
      possible.forEach((verdicts, n) => {
        setBit(verdicts[index] ? holds : fails, values.length + n)
      })
      // The last candidate of an open variable fulfils everything: where only it does, nothing is known.
      if (isOpen) for (const bits of [holds, fails]) setBit(bits, size - 1)
      this.#verdicts.set(atom.key, { variable, holds, fails })
    })
  }

  /** @returns the candidates, and the verdicts of each atom on their values; no values where the budget ended before their last verdict */
  #evaluateCandidates(family: Family, samples: Samples): Candidates & { verdicts: boolean[][] } {
    const evaluation = new Evaluation(this.now, unlimited, this.budget)
    const { atoms } = family
    const found = listFamilyCandidates(family, evaluation, samples)
    const cost = atoms.length * (found.values.length + found.possible.length)
    const isReached = cost <= maxVerdicts && evaluation.spend(cost * unitsPerVerdict)
    const verdicts = isReached
      ? atoms.map((atom) => {
          const read = family.readerOf(atom)
          return found.values.map((value) => atom.test(read(value), evaluation))
        })
      : []
    // Beyond the budget, each result is false and means nothing.
    return isReached && evaluation.affords(0)
      ? { ...found, verdicts }
      : { values: [], possible: [], isOpen: true, verdicts: [] }
  }
}
