/** Some of the data of an event, by the paths of its fields. */
export type Excerpt = Readonly<Record<string, string | number | boolean>>

interface Row {
  eventType: string
  excerpt?: Excerpt | undefined
}

const most = 3
const nameLike = /(^|[._])(name|title|subject|company|customer|email)$|[a-z](Name|Title|Email)$/
const idLike = /(^|[._])(id|uuid|token|hash)$|[a-z]I[dD]$/
const longId = /^[0-9a-f-]{24,}$/i

/**
 * The fields that tell the events of a list from each other, for each of their types: names first, then what differs between the rows. Ids
 * tell nothing to a person, and what all rows have in common neither.
 */
export function chooseTelling(rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const byType = new Map<string, Excerpt[]>()
  for (const { eventType, excerpt = {} } of rows) {
    const known = byType.get(eventType)
    if (known) known.push(excerpt)
    else byType.set(eventType, [excerpt])
  }
  return new Map([...byType].map(([type, excerpts]) => [type, chooseFields(excerpts)]))
}

function chooseFields(excerpts: readonly Excerpt[]): string[] {
  const values = new Map<string, Set<unknown>>()
  const counts = new Map<string, number>()
  for (const excerpt of excerpts)
    for (const [path, value] of Object.entries(excerpt)) {
      values.set(path, (values.get(path) ?? new Set()).add(value))
      counts.set(path, (counts.get(path) ?? 0) + 1)
    }
  const weigh = (path: string) => {
    const found = values.get(path) ?? new Set()
    const [first] = found
    const isId = idLike.test(path) || (typeof first === 'string' && longId.test(first))
    const share = (counts.get(path) ?? 0) / excerpts.length
    const differs = found.size > 1 || excerpts.length === 1
    return (
      share * ((nameLike.test(path) ? 4 : typeof first === 'boolean' ? 1 : 2) + (differs ? 2 : 0)) -
      (isId ? 5 : 0)
    )
  }
  const weights = [...values.keys()].map((path) => ({ path, weight: weigh(path) }))
  return (
    weights
      // Of the same weight by name: another page of rows, or another order of fields, changes nothing.
      .toSorted((left, right) => right.weight - left.weight || (left.path < right.path ? -1 : 1))
      .slice(0, most)
      .map(({ path }) => path)
  )
}

/** Of the fields that were chosen: what one event has. The name of a field that names something is not said. */
export function listTold(
  excerpt: Excerpt = {},
  fields: readonly string[] = [],
): { label: string; value: string }[] {
  return fields.flatMap((path) => {
    const value = excerpt[path]
    if (value === undefined) return []
    return [{ label: nameLike.test(path) ? '' : (path.split('.').at(-1) ?? path), value: String(value) }]
  })
}
