import { clockOf, keepFormats } from '../locale.js'
import type { Schedule } from './schedule-kinds.js'

const formats = keepFormats((timeZone, locale) => {
  const date = { weekday: 'short', month: 'short', day: 'numeric' } as const
  return new Intl.DateTimeFormat(locale ?? 'en-US', { ...date, ...clockOf(locale), timeZone })
})

/** `Mon, Nov 30, 09:00`, by the clock of a zone. */
export function formatRun(time: Date, timeZone: string): string {
  return formats(timeZone).format(time)
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
