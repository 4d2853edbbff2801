export type Zone = 'local' | 'UTC'

const optionsOf = (zone: Zone) => (zone === 'UTC' ? { timeZone: 'UTC' } : {})

/** `14:01:58` today, `Nov 22, 14:01` on another day, in the zone of the page. */
export function formatTime(iso: string, zone: Zone, now: Date): string {
  const time = new Date(iso)
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...optionsOf(zone) } as const
  if (dayOf(time, zone) === dayOf(now, zone))
    return time.toLocaleTimeString('en-GB', { ...clock, second: '2-digit' })
  const isThisYear = yearOf(time, zone) === yearOf(now, zone)
  return time.toLocaleString('en-US', {
    ...clock,
    month: 'short',
    day: 'numeric',
    ...(!isThisYear && { year: 'numeric' }),
  })
}

/** Both zones, for a tooltip. */
export function formatBoth(iso: string): string {
  const local = new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
  return `${local}\n${iso}`
}

/** `41 ms`, `3.2 s`, `5 min`, `19 h`, `3 d`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}

function dayOf(time: Date, zone: Zone): string {
  return time.toLocaleDateString('en-CA', optionsOf(zone))
}

function yearOf(time: Date, zone: Zone): string {
  return time.toLocaleDateString('en-CA', { year: 'numeric', ...optionsOf(zone) })
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
