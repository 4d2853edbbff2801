import { formatDuration as sayDuration } from '@automation/engine'
import { clockOf, keepFormats, writeNumber } from './locale.js'

export type Zone = 'local' | 'UTC'

const formats = keepFormats((zone: Zone, locale) => {
  const timeZone = zone === 'UTC' ? zone : undefined
  const clock = { ...clockOf(locale), timeZone }
  const date = { ...clock, month: 'short', day: 'numeric' } as const
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale ?? 'en-US', options)
  return {
    // These two are compared, and not shown.
    day: new Intl.DateTimeFormat('en-CA', { timeZone }),
    year: new Intl.DateTimeFormat('en-CA', { year: 'numeric', timeZone }),
    clock: format(clock),
    today: format({ ...clock, second: '2-digit' }),
    thisYear: format(date),
    earlier: format({ ...date, year: 'numeric' }),
  }
})
const both = keepFormats(
  (_, locale) => new Intl.DateTimeFormat(locale ?? 'en-GB', { dateStyle: 'medium', timeStyle: 'long' }),
)

/** `14:01:58` today, `Nov 22, 14:01` on another day, in the zone of the page. */
export function formatTime(iso: string, zone: Zone, now: Date): string {
  const time = new Date(iso)
  const { day, year, today, thisYear, earlier } = formats(zone)
  if (day.format(time) === day.format(now)) return today.format(time)
  return (year.format(time) === year.format(now) ? thisYear : earlier).format(time)
}

/** As formatTime, of a moment that begins something: without seconds that are 0. */
export function formatStart(iso: string, zone: Zone, now: Date): string {
  const { day, clock } = formats(zone)
  const time = new Date(iso)
  const isWhole = time.getSeconds() === 0 && day.format(time) === day.format(now)
  return isWhole ? clock.format(time) : formatTime(iso, zone, now)
}

/** `today 14:00`, `tomorrow 09:00`, `yesterday 09:00`, or as formatTime has another day. */
export function formatDay(iso: string, zone: Zone, now: Date): string {
  const { day, clock } = formats(zone)
  const time = new Date(iso)
  const days = Math.round((Date.parse(day.format(time)) - Date.parse(day.format(now))) / 86_400_000)
  const word = { [-1]: 'yesterday', 0: 'today', 1: 'tomorrow' }[days]
  return word === undefined ? formatTime(iso, zone, now) : `${word} ${clock.format(time)}`
}

/** `41 ms`, `3.2 s`, `5 min`, `19 h`, `3 d`. */
export function formatDuration(ms: number): string {
  return sayDuration(ms).replace(/\d+(\.\d+)?/, (number) => writeNumber(Number(number)))
}

/** Both zones, for a tooltip. */
export function formatBoth(iso: string): string {
  return `${both('').format(new Date(iso))}\n${iso}`
}

/** A moment as an input of type datetime-local has it: `2026-11-23T14:01:58`. Empty where it is none. */
export function writeLocalTime(iso: string, zone: Zone): string {
  const ms = Date.parse(iso)
  if (Number.isNaN(ms)) return ''
  const offsetMs = zone === 'UTC' ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - offsetMs).toISOString().slice(0, 19)
}

/** The opposite. @returns undefined where the text is no moment */
export function readLocalTime(text: string, zone: Zone): string | undefined {
  const time = new Date(zone === 'UTC' ? `${text}Z` : text)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

/** A moment as a reader types it: `2026-11-23 14:01`, with seconds where they count. Empty where it is none. */
export function writeMoment(iso: string | undefined, zone: Zone): string {
  const text = iso === undefined ? '' : writeLocalTime(iso, zone).replace('T', ' ')
  return text.endsWith(':00') ? text.slice(0, -3) : text
}

/** The opposite, by a clock of 24 hours: a time alone is of today, and a day alone begins at 00:00. @returns undefined where the text is no moment */
export function readMoment(text: string, zone: Zone, now: Date): string | undefined {
  const match = /^(?:(\d{4}-\d{2}-\d{2})(?:[ T]+|$))?(?:(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/.exec(text.trim())
  const [
    ,
    date = writeLocalTime(now.toISOString(), zone).slice(0, 10),
    hour = '0',
    minute = '00',
    second = '00',
  ] = match ?? []
  if (match === null || text.trim() === '') return undefined
  const iso = readLocalTime(`${date}T${hour.padStart(2, '0')}:${minute}:${second}`, zone)
  // A day that does not exist rolls over into another one.
  return iso !== undefined && writeLocalTime(iso, zone).startsWith(date) ? iso : undefined
}

/** When what has this id was made (epoch ms): a UUID v7 begins with it, and the id of an execution with the time of its event. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
