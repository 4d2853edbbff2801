/** How the items of a list became those of another one. */
export interface Alignment<Item> {
  /** For each item before: what it is afterwards; undefined if it was removed. */
  kept: (Item | undefined)[]
  /** What was inserted, by the number of items that stood before it. */
  inserted: Item[][]
}

/**
 * Finds which items of a list are those of before: first the equal ones, in order, then between them those that look alike. Conditions and
 * actions have no ids, so a changed one is known by its field or its type.
 */
export function alignItems<Item>(before: readonly Item[], after: readonly Item[]): Alignment<Item> {
  const alignment: Alignment<Item> = {
    kept: before.map(() => undefined),
    inserted: Array.from({ length: before.length + 1 }, () => []),
  }
  let from = { before: 0, after: 0 }
  for (const anchor of [...findEqual(before, after), { before: before.length, after: after.length }]) {
    pairBetween(before, after, from, anchor, alignment)
    if (anchor.before < before.length) alignment.kept[anchor.before] = after[anchor.after] as Item
    from = { before: anchor.before + 1, after: anchor.after + 1 }
  }
  return alignment
}

/** Of JSON: the order of keys says nothing. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const [one, other] = [left as Record<string, unknown>, right as Record<string, unknown>]
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
  )
}

interface Place {
  before: number
  after: number
}

/** The longest common subsequence. */
export function findEqual<Item>(before: readonly Item[], after: readonly Item[]): Place[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  const lengthAt = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      (lengths[i] as number[])[j] = isEqual(before[i], after[j])
        ? lengthAt(i + 1, j + 1) + 1
        : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
  const places: Place[] = []
  for (let i = 0, j = 0; i < before.length && j < after.length; )
    if (isEqual(before[i], after[j])) places.push({ before: i++, after: j++ })
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++
    else j++
  return places
}

function pairBetween<Item>(
  before: readonly Item[],
  after: readonly Item[],
  from: Place,
  to: Place,
  { kept, inserted }: Alignment<Item>,
): void {
  const isOneEach = to.before - from.before === 1 && to.after - from.after === 1
  let next = from.after
  for (let i = from.before; i < to.before; i++) {
    const found = after.findIndex(
      (item, j) => j >= next && j < to.after && (isOneEach || looksAlike(before[i], item)),
    )
    if (found === -1) continue
    inserted[i]?.push(...after.slice(next, found))
    kept[i] = after[found] as Item
    next = found + 1
  }
  inserted[to.before]?.push(...after.slice(next, to.after))
}

/** Items with the same field, of the same type, or both groups of one kind. */
function looksAlike(left: unknown, right: unknown): boolean {
  const [one, other] = [left, right] as Record<string, unknown>[]
  if (!one || !other) return false
  if ('field' in one || 'type' in one) return one.field === other.field && one.type === other.type
  return Object.keys(one)[0] === Object.keys(other)[0]
}
