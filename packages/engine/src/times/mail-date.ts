import { toInstant } from './instant.js'

const form =
  /^(?:(mon|tue|wed|thu|fri|sat|sun), *)?(\d\d?) +(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) +(\d{4}|\d\d) +(\d\d):(\d\d)(?::(\d\d))? +(?:([+-]\d\d)(\d\d)|([a-z]{1,3}))(?: *\([^()]*\))?$/

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The zones that have a name in RFC 2822, as hours. It gives no meaning to its other letters. */
const zones: Record<string, number> = {
  ut: 0,
  utc: 0,
  gmt: 0,
  z: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
}

/**
 * Reads the date of mails, feeds and HTTP (RFC 2822), such as `Tue, 10 Mar 2026 12:00:00 +0000 (UTC)`. Its years of two digits are those
 * from 1950 to 2049.
 *
 * @returns epoch milliseconds, or NaN, also for a weekday that the date does not have
 */
export function readMailDate(text: string): number {
  const match = form.exec(text.toLowerCase())
  if (match === null) return Number.NaN
  const [, weekday, day, month = '', year = '', hour, minute, second = 0, zoneHours, zoneMinutes, name] =
    match
  const hours = name === undefined ? Number(zoneHours) : (zones[name] ?? Number.NaN)
  const offsetMinutes = hours * 60 + Number(zoneMinutes ?? 0) * (zoneHours?.startsWith('-') ? -1 : 1)
  if (!(Math.abs(hours) <= 23) || Number(zoneMinutes ?? 0) > 59) return Number.NaN
  const instant = toInstant({
    year: Number(year) + (year.length === 4 ? 0 : Number(year) < 50 ? 2_000 : 1_900),
    month: months.indexOf(month) + 1,
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    millisecond: 0,
    offsetMinutes,
  })
  // A leap second belongs to the day that it ends.
  const start = instant - Number(second) * 1_000
  const isThatDay =
    weekday === undefined || weekday === weekdays[new Date(start + offsetMinutes * 60_000).getUTCDay()]
  return isThatDay ? instant : Number.NaN
}
