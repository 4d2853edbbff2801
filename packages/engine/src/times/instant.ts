/** What a text says about an instant, as numbers. */
export interface InstantParts {
  readonly year: number
  /** 1 to 12 */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millisecond: number
  /** East of Greenwich */
  readonly offsetMinutes: number
}

// The calendar repeats itself after 400 years. Date.UTC takes the years 0 to 99 for those of the 20th century.
const cycleYears = 400
const cycleMs = 146_097 * 86_400_000

/**
 * Epoch milliseconds, or NaN if the day or the time does not exist. A leap second, which only the last minute of a month (UTC) has, is the
 * second after it, as in Unix time.
 */
export function toInstant(parts: InstantParts): number {
  const { year, month, day, hour, minute, second, millisecond, offsetMinutes } = parts
  const exists =
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysInMonth(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 60
  if (!exists) return Number.NaN
  const local = Date.UTC(year + cycleYears, month - 1, day, hour, minute, second, millisecond) - cycleMs
  const instant = local - offsetMinutes * 60_000
  return second < 60 || isFirstSecondOfMonth(instant) ? instant : Number.NaN
}

function isFirstSecondOfMonth(instant: number): boolean {
  return /-01T00:00:00\.\d+Z$/.test(new Date(instant).toISOString())
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}
