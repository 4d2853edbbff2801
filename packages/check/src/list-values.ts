import { toNumber } from '@automation/engine'
import type { Atom } from './atoms.js'

const maxLists = 2_000
/** Of all lists together. */
const maxItems = 200_000

/** What lists need to have for an atom: one of several items, or for `contains_all` one of several for each of its values. */
interface Picks {
  readonly count: number
  /** Items of each. */
  readonly length: number
  list(): unknown[][]
}

/**
 * Lists for each way in which the atoms on items can hold together: for each atom the items that it looks for, or none of them.
 *
 * @param spend charges the lists before they are made. @returns false if they must not be made
 * @returns undefined where there are too many ways
 */
export function listLists(
  atoms: readonly Atom[],
  spend: (units: number) => boolean,
): unknown[][] | undefined {
  if (atoms.length === 0) return [[], [{}]]
  const constants = groupByNumber(atoms.flatMap(({ value }) => (Array.isArray(value) ? value : [value])))
  const picks = atoms.map((atom) => findPicks(atom, constants))
  const size = measureLists(picks)
  if (size.lists > maxLists || size.items > maxItems || !spend(size.items)) return undefined
  let lists: unknown[][] = [[]]
  for (const { list } of picks) {
    const added = list()
    lists = lists.flatMap((known) => [known, ...added.map((pick) => [...known, ...pick])])
  }
  return [...lists, [{}]]
}

/** How many lists there are, and how many items they have together. */
function measureLists(picks: readonly Picks[]): { lists: number; items: number } {
  let [lists, items] = [1, 0]
  for (const { count, length } of picks) {
    items += items * count + lists * count * length
    lists += lists * count
  }
  return { lists, items }
}

function findPicks({ operator, value }: Atom, constants: SameNumbers): Picks {
  const values = Array.isArray(value) ? value : [value]
  if (operator !== 'contains_all') {
    const forms = values.flatMap((item) => listForms(item, constants))
    return { count: forms.length, length: 1, list: () => forms.map((form) => [form]) }
  }
  const choices = [...new Set(values)].map((item) => listForms(item, constants))
  const count = choices.reduce((product, { length }) => product * length, 1)
  return { count, length: choices.length, list: () => combine(choices, count) }
}

/** Each way to choose one of each. */
function combine(choices: readonly (readonly unknown[])[], count: number): unknown[][] {
  return Array.from({ length: count }, (_, n) => {
    let rest = n
    return choices.map((forms) => {
      const form = forms[rest % forms.length]
      rest = Math.floor(rest / forms.length)
      return form
    })
  })
}

/** Constants by the number that they are. */
type SameNumbers = ReadonlyMap<number, ReadonlySet<unknown>>

function groupByNumber(constants: readonly unknown[]): SameNumbers {
  const groups = new Map<number, Set<unknown>>()
  for (const constant of constants) {
    const number = toNumber(constant)
    const known = groups.get(number)
    if (known === undefined) groups.set(number, new Set([constant]))
    else known.add(constant)
  }
  return groups
}

/** The value itself, and where it is a number the other ways to write it: they equal it, and not all the same constants. */
function listForms(value: unknown, constants: SameNumbers): unknown[] {
  const number = toNumber(value)
  if (Number.isNaN(number)) return [value]
  const same = [...(constants.get(number) ?? [])]
  const isTold = same.some((constant) => constant !== value)
  if (!isTold && typeof value === 'string') return [value]
  let fresh = String(number)
  if (typeof value !== 'number') return [...new Set([value, number])]
  if (!isTold) return [number]
  while (same.includes(fresh)) fresh += fresh.match(/\./) ? '0' : '.0'
  return [...new Set([...same, number, ...(toNumber(fresh) === number ? [fresh] : [])])]
}
