import { toNumber } from '@automation/engine'
import type { Atom } from './atoms.js'

const maxLists = 2_000

/**
 * Lists for each way in which the atoms on items can hold together: for each atom the items that it looks for, or none of them.
 *
 * @returns undefined where there are too many ways
 */
export function listLists(atoms: readonly Atom[]): unknown[][] | undefined {
  if (atoms.length === 0) return [[], [{}]]
  const constants = atoms.flatMap(({ value }) => (Array.isArray(value) ? value : [value]))
  let lists: unknown[][] = [[]]
  for (const { operator, value } of atoms) {
    const picks =
      operator === 'contains_all'
        ? listJointPicks(value as unknown[], constants)
        : listPicks(value, constants)
    lists =
      picks === undefined ? [] : lists.flatMap((list) => [list, ...picks.map((pick) => [...list, ...pick])])
    if (picks === undefined || lists.length > maxLists) return undefined
  }
  return [...lists, [{}]]
}

/** Items of which one makes the atom hold. */
function listPicks(value: unknown, constants: readonly unknown[]): unknown[][] {
  const values = Array.isArray(value) ? value : [value]
  return values.flatMap((item) => listForms(item, constants).map((form) => [form]))
}

/** Items that make the atom hold together. */
function listJointPicks(values: readonly unknown[], constants: readonly unknown[]): unknown[][] | undefined {
  let picks: unknown[][] = [[]]
  for (const value of new Set(values)) {
    const forms = listForms(value, constants)
    picks = picks.flatMap((pick) => forms.map((form) => [...pick, form]))
    if (picks.length > maxLists) return undefined
  }
  return picks
}

/** The value itself, and where it is a number the other ways to write it: they equal it, and not all the same constants. */
function listForms(value: unknown, constants: readonly unknown[]): unknown[] {
  const number = toNumber(value)
  if (Number.isNaN(number)) return [value]
  const isTold = constants.some((constant) => constant !== value && toNumber(constant) === number)
  if (!isTold && typeof value === 'string') return [value]
  const same = constants.filter((constant) => toNumber(constant) === number)
  let fresh = String(number)
  if (typeof value !== 'number') return [...new Set([value, number])]
  if (!isTold) return [number]
  while (same.includes(fresh)) fresh += fresh.match(/\./) ? '0' : '.0'
  return [...new Set([...same, number, ...(toNumber(fresh) === number ? [fresh] : [])])]
}
