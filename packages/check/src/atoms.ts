import {
  type Clause,
  findOperator,
  isClause,
  isReference,
  type Leaf,
  type Operator,
  parsePath,
  type Test,
} from '@automation/engine'
import { isRecorded } from './recorded-parts.js'

/** A positive clause: what an operator says about the value at one path. Clauses that say the same, or the opposite, share one. */
export interface Atom {
  readonly key: string
  /** The keys of the path, joined: `tags[0]` and `tags.0` are one path. */
  readonly path: string
  readonly operator: Operator['name']
  readonly value: unknown
  /** Whether missing data was rendered as "" before, by a placeholder. */
  readonly isFilled: boolean
  readonly test: Test
}

interface FoundAtom {
  readonly atom: Atom
  readonly isNegated: boolean
}

/** The operator of an atom that the check does not decide. */
const opaque = 'opaque'

/** Whether the check cannot decide it: no values of one path make a condition on a list, on the moment, between two fields, or on an earlier action, hold or fail. */
export function isOpaque(leaf: Leaf): boolean {
  return !isClause(leaf) || isReference(leaf.value) || isRecorded(leaf)
}

export function isOpaqueAtom({ operator }: Atom): boolean {
  return operator === opaque
}

/** Collects the atoms of many clauses, each once. */
export class Atoms {
  readonly #atoms = new Map<string, Atom>()
  /** Those of the event itself. A clause is looked up in many formulas, and its value may have 256 KiB. */
  readonly #known = new WeakMap<Leaf, FoundAtom>()

  /** @returns the atom of a clause, and whether the clause says its opposite */
  find(leaf: Leaf): FoundAtom {
    let found = this.#known.get(leaf)
    if (found === undefined) {
      found = isOpaque(leaf)
        ? { atom: this.#findOpaque(leaf), isNegated: false }
        : this.findAt(leaf as Clause, pathKey((leaf as Clause).field), false)
      this.#known.set(leaf, found)
    }
    return found
  }

  /** One that says the same shares its atom, so that it holds together with it; not on an earlier action, which each rule has its own. No event has its path. */
  #findOpaque(leaf: Leaf): Atom {
    const key = isRecorded(leaf) ? `\u0000${this.#atoms.size}` : JSON.stringify(leaf)
    let atom = this.#atoms.get(key)
    if (atom === undefined) {
      const path = `\u0000${this.#atoms.size}`
      atom = { key, path, operator: opaque, value: undefined, isFilled: false, test: () => false }
      this.#atoms.set(key, atom)
    }
    return atom
  }

  /** The same for a clause about an emitted event. @param path of the value in the event that began the chain */
  findAt(clause: Clause, path: string, isFilled: boolean): FoundAtom {
    const operator = findOperator(clause.operator)
    const name = operator?.name ?? clause.operator
    const positive = operator?.opposite ?? name
    const key = JSON.stringify([path, positive, clause.value, isFilled])
    let atom = this.#atoms.get(key)
    if (atom === undefined) {
      atom = {
        key,
        path,
        operator: positive,
        value: clause.value,
        isFilled,
        test: compileTest(positive, clause.value, isFilled),
      }
      this.#atoms.set(key, atom)
    }
    return { atom, isNegated: positive !== name }
  }

  list(): Atom[] {
    return [...this.#atoms.values()]
  }
}

export function pathKey(field: string): string {
  return parsePath(field)?.join('.') ?? field
}

function compileTest(operator: string, value: unknown, isFilled: boolean): Test {
  const test = findOperator(operator)?.compile(value)
  if (test === undefined) throw new Error(`No operator: ${operator}`)
  return isFilled ? (actual, evaluation) => test(actual === undefined ? '' : actual, evaluation) : test
}
