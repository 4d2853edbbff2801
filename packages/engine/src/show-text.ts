const maxShown = 40

/** A scalar as JSON, of which a message shows the beginning; of other values the kind. */
export function showText(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const isLong = typeof value === 'string' && value.length > maxShown
  return JSON.stringify(isLong ? `${value.slice(0, maxShown)}…` : value) ?? 'nothing'
}
