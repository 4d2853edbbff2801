import type { Schedule } from './schedule-kinds.js'

/** Making a format takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** `Mon, Nov 30, 09:00`, by the clock of a zone. */
export function formatRun(time: Date, timeZone: string): string {
  let format = formats.get(timeZone)
  if (format === undefined) {
    const date = { weekday: 'short', month: 'short', day: 'numeric' } as const
    const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
    format = new Intl.DateTimeFormat('en-US', { ...date, ...clock, timeZone })
    formats.set(timeZone, format)
  }
  return format.format(time)
}

/** `Mon, Nov 30, 09:00, Berlin time`: the same on every screen, wherever its reader is. */
export function writeRun(iso: string, schedule: Pick<Schedule, 'timezone'>): string {
  return `${formatRun(new Date(iso), schedule.timezone ?? 'UTC')}, ${nameClock(schedule)}`
}

/** `Berlin time`: an interval has no zone, and counts by UTC. */
export function nameClock({ timezone = 'UTC' }: Pick<Schedule, 'timezone'>): string {
  const city = timezone.split('/').at(-1)?.replaceAll('_', ' ')
  return timezone === 'UTC' ? 'UTC' : `${city} time`
}
