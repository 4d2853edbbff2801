/** A list as somebody likes to see it: a name for the filters of its address. */
export interface View {
  name: string
  /** Without the `?`. */
  query: string
}

/** One list has at most so many. */
export const mostViews = 20
/** What is open beside a list, and the time that was looked at, belong to no view. */
const momentary = ['id', 'from', 'to']

/** @param text as it was kept. Anything else than views gives none: others may have written it. */
export function readViews(text: string | null): View[] {
  try {
    const found = JSON.parse(text ?? '[]') as unknown
    if (!Array.isArray(found)) return []
    return found
      .filter((one): one is View => typeof one?.name === 'string' && typeof one?.query === 'string')
      .slice(0, mostViews)
  } catch {
    return []
  }
}

/** What a view keeps of an address, in a fixed order. */
export function queryOfView(query: Readonly<Record<string, string | undefined>>): string {
  const kept = Object.entries(query).filter(([name, value]) => value && !momentary.includes(name))
  return new URLSearchParams(kept.toSorted() as [string, string][]).toString()
}
