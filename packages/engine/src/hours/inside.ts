import { findChange, instantOf, offsetAt } from '../schedule/clock-changes.js'
import type { ReadHours } from './hours.js'

const minuteMs = 60_000
const dayMs = 86_400_000
/** A week has a day of all hours, and another one is needed if no clock shows those of the first. */
const daysAhead = 15

/** Whether a moment (epoch ms) is within the hours, by the clock of their zone. */
export function isInside(hours: ReadHours, instant: number): boolean {
  return hours.days.size > 0 && showsInside(hours, clockAt(hours.zone, instant))
}

/** The first moment (epoch ms) within the hours from this one on. null: no day has them. */
export function findNextInside(hours: ReadHours, instant: number): number | null {
  if (hours.days.size === 0) return null
  if (isInside(hours, instant)) return instant
  const { zone, from } = hours
  const midnight = Math.floor(clockAt(zone, instant) / dayMs) * dayMs
  const end = instant + daysAhead * dayMs
  // The hours begin at a time of the clock, or when clocks are changed to one within them.
  for (let day = midnight - dayMs; day <= midnight + daysAhead * dayMs; day += dayMs) {
    const begin = day + from * minuteMs
    const found = [instantOf(begin, zone), ...listSecond(begin, zone)].filter(
      (moment) => moment > instant && isInside(hours, moment),
    )
    const change = findChange(zone, Math.max(instant, instantOf(day, zone) - 1), instantOf(day + dayMs, zone))
    if (change !== undefined && isInside(hours, change.at)) found.push(change.at)
    const earliest = Math.min(...found)
    if (earliest <= end) return earliest
  }
  return null
}

/** In an hour that exists twice, the second moment at which the clock shows a time. */
function listSecond(clock: number, zone: string): number[] {
  const change = findChange(zone, clock - dayMs, clock + dayMs)
  if (change === undefined) return []
  const second = clock - change.after
  return second >= change.at && clock - change.before < change.at ? [second] : []
}

function showsInside({ days, from, to }: ReadHours, clock: number): boolean {
  const minute = Math.floor((clock % dayMs) / minuteMs)
  const day = new Date(clock).getUTCDay()
  if (from < to) return from <= minute && minute < to && days.has(day)
  return (minute >= from && days.has(day)) || (minute < to && days.has((day + 6) % 7))
}

/** All rules of an event ask for the same moment. */
const latest = new Map<string, { instant: number; clock: number }>()

/** What the clock of a zone shows, as the ms of a Date in UTC. */
export function clockAt(zone: string, instant: number): number {
  const key = zone.toLowerCase()
  const known = latest.get(key)
  if (known?.instant === instant) return known.clock
  const clock = instant + offsetAt(zone, instant)
  latest.set(key, { instant, clock })
  return clock
}
