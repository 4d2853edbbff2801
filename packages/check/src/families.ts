import { compilePath, type Evaluation, readPath } from '@automation/engine'
import { type Atom, isOpaqueAtom } from './atoms.js'
import { type Candidates, listCandidates, type Samples, unitsPerVerdict } from './candidates.js'
import { writeValue } from './write-value.js'

/** Atoms of one path, and of the paths that lead on from it. Their values depend on one another. */
export interface Family {
  readonly keys: readonly string[]
  readonly atoms: readonly Atom[]
  /** Reads the value of an atom from the value of the family. */
  readerOf(atom: Atom): (value: unknown) => unknown
}

interface Node {
  atoms: Atom[]
  readonly children: Map<string, Node>
}

export function groupPaths(atoms: readonly Atom[]): Family[] {
  const byPath = new Map<string, Atom[]>()
  for (const atom of atoms) {
    const known = byPath.get(atom.path)
    if (known === undefined) byPath.set(atom.path, [atom])
    else known.push(atom)
  }
  // The shortest path of a family is its root, and comes first.
  const paths = [...byPath.keys()].sort().map((path) => ({ path, depth: path.split('.').length }))
  const families = new Map<string, Atom[]>()
  for (const { path } of paths.sort((left, right) => left.depth - right.depth)) {
    const root = listParents(path).find((parent) => families.has(parent))
    const known = root === undefined ? undefined : families.get(root)
    if (known === undefined) families.set(path, [...(byPath.get(path) as Atom[])])
    else known.push(...(byPath.get(path) as Atom[]))
  }
  return [...families].map(([root, members]) => {
    const keys = root.split('.')
    return { keys, atoms: members, readerOf: (atom) => readBelow(keys, atom) }
  })
}

function listParents(path: string): string[] {
  const keys = path.split('.')
  return keys.slice(1).map((_, index) => keys.slice(0, index + 1).join('.'))
}

function readBelow(keys: readonly string[], atom: Atom): (value: unknown) => unknown {
  const rest = atom.path.split('.').slice(keys.length)
  if (rest.length === 0) return (value) => value
  const path = compilePath(rest.join('.'))
  return (value) => readPath(path, value)
}

/** With more values of several paths together than these, the rest counts as unknown. */
const maxJoint = 2_000

export function listFamilyCandidates(family: Family, evaluation: Evaluation, samples: Samples): Candidates {
  if (family.atoms.some(isOpaqueAtom)) return { values: [], possible: [], isOpen: true }
  const root: Node = { atoms: [], children: new Map() }
  for (const atom of family.atoms) {
    let node = root
    for (const key of atom.path.split('.').slice(family.keys.length)) {
      let child = node.children.get(key)
      if (child === undefined) {
        child = { atoms: [], children: new Map() }
        node.children.set(key, child)
      }
      node = child
    }
    node.atoms.push(atom)
  }
  if (root.children.size === 0) return listCandidates(family.atoms, evaluation, samples)
  const state = { isOpen: false }
  return { values: listTree(root, evaluation, samples, state), possible: [], isOpen: state.isOpen }
}

/** The values of a path and the paths below it: without anything below, or an object with any combination of values below. */
function listTree(
  node: Node,
  evaluation: Evaluation,
  samples: Samples,
  state: { isOpen: boolean },
): unknown[] {
  const { values: all, possible, isOpen } = listCandidates(node.atoms, evaluation, samples)
  if (isOpen || possible.length > 0) state.isOpen = true
  if (node.children.size === 0) return distinctValues(node.atoms, all, evaluation)
  // Items of a list, and conditions on all of its items, are not combined.
  const hasItems = [...node.children.keys()].some((key) => /^\d+$/.test(key))
  if (hasItems && node.atoms.some(({ operator }) => operator.startsWith('contains'))) state.isOpen = true
  // A text stands for every list and object in which nothing is sought.
  const own = distinctValues(
    node.atoms,
    node.atoms.length === 0 ? [undefined] : all.filter(hasNothingBelow),
    evaluation,
  )
  let objects: Record<string, unknown>[] = [{}]
  for (const [index, [key, child]] of [...node.children].entries()) {
    const below = listTree(child, evaluation, samples, state)
    const count = objects.length * below.length
    if (count > maxJoint) state.isOpen = true
    // No more of them are made than are used, and each is a copy with one key more.
    const used = Math.min(count, maxJoint)
    objects = combine(objects, key, below, evaluation.spend(count + used * index) ? used : 0)
  }
  return [...objects.filter((object) => Object.keys(object).length > 0), ...own]
}

/** The first of all combinations of objects with values for a key. */
function combine(
  objects: Record<string, unknown>[],
  key: string,
  values: unknown[],
  count: number,
): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, n) =>
    withKey(objects[Math.floor(n / values.length)] ?? {}, key, values[n % values.length]),
  )
}

function withKey(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const copy = { ...object }
  writeValue(copy, [key], value)
  return copy
}

function hasNothingBelow(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Array.isArray(value) || Object.keys(value).length === 0
}

/** One value for each combination of verdicts. */
function distinctValues(
  atoms: readonly Atom[],
  values: readonly unknown[],
  evaluation: Evaluation,
): unknown[] {
  const known = new Map<string, unknown>()
  if (!evaluation.spend(atoms.length * values.length * unitsPerVerdict)) return []
  for (const value of values) {
    const key = atoms.map((atom) => (atom.test(value, evaluation) ? '1' : '0')).join('')
    if (!known.has(key)) known.set(key, value)
  }
  return [...known.values()]
}
