const hourMs = 3_600_000

/** The spans that a list or a chart can have, in the address as `last=24h`. */
export const spans = {
  '1h': { label: 'Last hour', ms: hourMs, slices: 30 },
  '24h': { label: 'Last 24 hours', ms: 24 * hourMs, slices: 48 },
  '7d': { label: 'Last 7 days', ms: 168 * hourMs, slices: 56 },
  '30d': { label: 'Last 30 days', ms: 720 * hourMs, slices: 60 },
} as const
export type RecentSpan = keyof typeof spans
export const spanLabels = Object.fromEntries(
  Object.entries(spans).map(([name, { label }]) => [name, label]),
) as Record<RecentSpan, string>

export function readSpan(text: string | undefined, usual: RecentSpan = '24h'): RecentSpan {
  return text !== undefined && Object.hasOwn(spans, text) ? (text as RecentSpan) : usual
}

/** The parameters of an address without the empty ones, in a fixed order: equal filters have equal addresses. */
export function writeQuery(values: Record<string, string | undefined>): string {
  const set = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]))
  set.sort(([left], [right]) => (left < right ? -1 : 1))
  const text = new URLSearchParams(set).toString()
  return text === '' ? '' : `?${text}`
}

/** Of the filters of a list those that are set: what is empty narrows nothing. */
export function given<Values extends object>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(set) as never
}
