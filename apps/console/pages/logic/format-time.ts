export { formatDuration } from '@automation/engine'

export type Zone = 'local' | 'UTC'

/** Making a format takes a hundred times as long as using it, and a list shows a time in each row. */
const formats = { local: makeFormats(undefined), UTC: makeFormats('UTC') }
const both = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

function makeFormats(timeZone: string | undefined) {
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const
  const date = { ...clock, month: 'short', day: 'numeric' } as const
  return {
    day: new Intl.DateTimeFormat('en-CA', { timeZone }),
    year: new Intl.DateTimeFormat('en-CA', { year: 'numeric', timeZone }),
    clock: new Intl.DateTimeFormat('en-GB', clock),
    today: new Intl.DateTimeFormat('en-GB', { ...clock, second: '2-digit' }),
    thisYear: new Intl.DateTimeFormat('en-US', date),
    earlier: new Intl.DateTimeFormat('en-US', { ...date, year: 'numeric' }),
  }
}

/** `14:01:58` today, `Nov 22, 14:01` on another day, in the zone of the page. */
export function formatTime(iso: string, zone: Zone, now: Date): string {
  const time = new Date(iso)
  const { day, year, today, thisYear, earlier } = formats[zone]
  if (day.format(time) === day.format(now)) return today.format(time)
  return (year.format(time) === year.format(now) ? thisYear : earlier).format(time)
}

/** As formatTime, of a moment that begins something: without seconds that are 0. */
export function formatStart(iso: string, zone: Zone, now: Date): string {
  return formatTime(iso, zone, now).replace(/^(\d\d:\d\d):00$/, '$1')
}

/** `today 14:00`, `tomorrow 09:00`, `yesterday 09:00`, or as formatTime has another day. */
export function formatDay(iso: string, zone: Zone, now: Date): string {
  const { day, clock } = formats[zone]
  const time = new Date(iso)
  const days = Math.round((Date.parse(day.format(time)) - Date.parse(day.format(now))) / 86_400_000)
  const word = { [-1]: 'yesterday', 0: 'today', 1: 'tomorrow' }[days]
  return word === undefined ? formatTime(iso, zone, now) : `${word} ${clock.format(time)}`
}

/** Both zones, for a tooltip. */
export function formatBoth(iso: string): string {
  return `${both.format(new Date(iso))}\n${iso}`
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
