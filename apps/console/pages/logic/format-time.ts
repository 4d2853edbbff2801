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

/** Both zones, for a tooltip. */
export function formatBoth(iso: string): string {
  return `${both.format(new Date(iso))}\n${iso}`
}

/** `41 ms`, `3.2 s`, `5 min`, `19 h`, `3 d`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
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
