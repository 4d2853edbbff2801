const millisecondsPer: Record<string, number> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

// The contract allows a year at most: a typing error must not schedule a task in the next century.
export const maxDays = 366
const maxMilliseconds = maxDays * 86_400_000

/**
 * Reads an integer with a unit (s, m, h, d, w), such as `90s`, `24h` or `2w`, as milliseconds.
 * Undefined for anything else, for zero and for more than `maxDays`.
 */
export function parseDuration(text: string): number | undefined {
  const match = /^([1-9]\d{0,8})([smhdw])$/.exec(text)
  if (!match) return undefined
  const milliseconds = Number(match[1]) * (millisecondsPer[match[2] ?? ''] ?? Number.NaN)
  return milliseconds <= maxMilliseconds ? milliseconds : undefined
}

/** Describes what is wrong with a text that should be a duration, and how what it means is written: `2d` for `2 days`. */
export function findDurationFault(text: string): string | undefined {
  if (parseDuration(text) !== undefined) return undefined
  const [, number, unit = ''] = inWords.exec(text) ?? []
  const meant = Number(number) + unit.toLowerCase()
  return `must be a duration such as ${parseDuration(meant) ? meant : '30m, 24h or 7d, at most 366 days'}`
}

/** `2 days`, `90 min`, `1W`. */
const inWords = /^ *(\d+) *([smhdw])(?:(?:ec|econd|in|inute|r|our|ay|k|eek)s?)? *$/i
