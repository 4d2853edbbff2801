const iso = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-](\d\d):(\d\d)))?$/

// The last instant that a JavaScript Date can hold.
const maxEpochMilliseconds = 8.64e15

/**
 * Reads an ISO 8601 date (midnight UTC), an ISO 8601 date-time with a zone, or a number of milliseconds since 1970.
 * Returns epoch milliseconds, or NaN for anything else: a date-time without a zone is no instant, and 30 February is no day.
 */
export function parseTimestamp(value: unknown): number {
  if (typeof value === 'number') return Math.abs(value) <= maxEpochMilliseconds ? value : Number.NaN
  if (typeof value !== 'string') return Number.NaN
  const match = iso.exec(value)
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
  return exists ? Date.parse(value) : Number.NaN
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}
