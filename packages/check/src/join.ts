/** Writes `a`, `a and b`, or `a, b and c`. */
export function join(items: readonly string[]): string {
  const last = items.at(-1) ?? ''
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`
}
