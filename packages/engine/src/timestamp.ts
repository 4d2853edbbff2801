const iso = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-](\d\d):(\d\d)))?$/

// ISO 8601 writes years of four digits: what lies outside could be read and not be written again.
const first = Date.parse('0000-01-01T00:00:00.000Z')
const last = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads an ISO 8601 date (midnight UTC), an ISO 8601 date-time with a zone, or a number of milliseconds since 1970.
 * Answers epoch milliseconds of the years 0 to 9999 (UTC), NaN for anything else: a date-time without zone names no
 * instant, and 30 February no day.
 */
export function parseTimestamp(value: unknown): number {
  const milliseconds = typeof value === 'string' ? parseText(value) : value
  const isInstant = typeof milliseconds === 'number' && milliseconds >= first && milliseconds <= last
  return isInstant ? milliseconds : Number.NaN
}

function parseText(text: string): number {
  const match = iso.exec(text)
  if (!match) return Number.NaN
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0))
  const exists =
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysInMonth(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    zoneHour <= 23 &&
    zoneMinute <= 59
  return exists ? Date.parse(text) : Number.NaN
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}
