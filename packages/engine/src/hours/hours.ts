import { Type } from 'typebox'
import { describeNoZone, isZone } from '../times/zone-names.js'

const timePattern = '^(?:[01]\\d|2[0-3]):[0-5]\\d$'
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const day = `(?:${dayNames.join('|')})`

/** Hours of the week, on the clock of a zone. A night (`from` later than `to`) belongs to the day on which it begins. */
export const Hours = Type.Object(
  {
    days: Type.String({
      pattern: `^${day}(?:-${day})?(?:,${day}(?:-${day})?)*$`,
      patternError: 'be days such as mon-fri, or sat,sun',
      maxLength: 60,
      description: 'Days such as mon-fri, or sat,sun',
    }),
    from: Type.String({
      pattern: timePattern,
      patternError: 'be a time of day such as 09:00',
      description: 'From this time on, such as 09:00',
    }),
    to: Type.String({
      pattern: `${timePattern.slice(0, -1)}|^24:00$`,
      patternError: 'be a time of day such as 17:00, at most 24:00',
      description:
        'Until this time, which is outside, such as 17:00; 24:00 is the end of the day. An earlier time than from is one of the next day.',
    }),
    timezone: Type.String({ maxLength: 64, description: 'IANA time zone, such as Europe/Berlin' }),
  },
  {
    additionalProperties: false,
    title: 'Hours',
    description: 'Hours of the week, by the clock of a time zone',
  },
)
export type Hours = Type.Static<typeof Hours>

/** Hours, ready to be asked. Times are minutes of a day. */
export interface ReadHours {
  readonly days: ReadonlySet<number>
  readonly from: number
  readonly to: number
  readonly zone: string
}

/** Finds what the schema of hours cannot express. It takes any shape. @returns the field and its fault */
export function findHoursFault(hours: unknown): { field: string; message: string } | undefined {
  if (typeof hours !== 'object' || hours === null) return undefined
  const { from, to, timezone } = hours as Record<string, unknown>
  if (typeof timezone === 'string' && !isZone(timezone))
    return { field: 'timezone', message: describeNoZone(timezone) }
  return typeof from === 'string' && from === to
    ? { field: 'to', message: 'must be another time than from: a whole day is 00:00 to 24:00' }
    : undefined
}

/** @param hours without a fault; stored ones in a zone that is none have no day */
export function readHours({ days, from, to, timezone }: Hours): ReadHours {
  const known = isZone(timezone) ? readDays(days) : new Set<number>()
  return { days: known, from: readTime(from), to: readTime(to), zone: timezone }
}

function readDays(text: string): ReadonlySet<number> {
  const days = new Set<number>()
  for (const part of text.split(',')) {
    const [first = 0, last = first] = part.split('-').map((name) => dayNames.indexOf(name))
    for (let day = first; ; day = (day + 1) % dayNames.length) {
      days.add(day)
      if (day === last) break
    }
  }
  return days
}

function readTime(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}

export function nameDay(day: number): string {
  return ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'][day] ?? ''
}
