/** A new name, and another one that looks the same. */
export interface AlmostSame {
  name: string
  other: string
}

/**
 * Finds names that look the same as others: only the Unicode form of their letters or the blanks around them differ. Names are stored as they are
 * written, so both would be there.
 *
 * @param names in their order: each is compared with those before it, too
 */
export function listAlmostSame(names: Iterable<string>, others: Iterable<string>): AlmostSame[] {
  // Two different ones of a key are enough.
  const known = new Map<string, string[]>()
  const add = (name: string) => {
    const alike = known.get(keyOf(name)) ?? []
    if (alike.length < 2 && !alike.includes(name)) known.set(keyOf(name), [...alike, name])
  }
  for (const other of others) add(other)
  return [...names].flatMap((name) => {
    const other = known.get(keyOf(name))?.find((one) => one !== name)
    add(name)
    return other === undefined ? [] : [{ name, other }]
  })
}

/** The same for one name. */
export function findAlmostSame(name: string, others: Iterable<string>): string | undefined {
  return listAlmostSame([name], others)[0]?.other
}

function keyOf(name: string): string {
  return name.normalize('NFC').trim()
}
