import { toInstant } from './instant.js'

const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)? ?(?:[Zz]|UTC|GMT|([+-])(\d\d)(?::?(\d\d))?))?$/

/**
 * Reads RFC 3339, and what ISO 8601 and writers close to it have beside: `+0000` and `+00` for `+00:00`, a time without seconds, a comma,
 * a blank for T and before the zone, UTC and GMT for Z. A date alone is midnight UTC.
 *
 * @returns epoch milliseconds, or NaN
 */
export function readIsoText(text: string): number {
  const match = form.exec(text)
  if (match === null) return Number.NaN
  const zoneHours = Number(match[9] ?? 0)
  const zoneMinutes = Number(match[10] ?? 0)
  if (zoneHours > 23 || zoneMinutes > 59) return Number.NaN
  const fraction = match[7]
  return toInstant({
    year: Number(match[1]),
    month: Number(match[2]),
    day: Number(match[3]),
    hour: Number(match[4] ?? 0),
    minute: Number(match[5] ?? 0),
    second: Number(match[6] ?? 0),
    millisecond: fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0')),
    offsetMinutes: (zoneHours * 60 + zoneMinutes) * (match[8] === '-' ? -1 : 1),
  })
}
