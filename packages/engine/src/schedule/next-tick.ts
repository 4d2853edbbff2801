import { parseDuration } from '../times/duration.js'
import { ZonedTime } from '../times/zoned-time.js'
import { findChange, instantOf, offsetAt } from './clock-changes.js'
import { type CronTimes, compileCron } from './cron.js'
import { findUnknownZone, type Schedule, zoneOf } from './schedule.js'

/**
 * The first tick of a schedule after a moment (epoch ms); null: there is none.
 *
 * When clocks change, `every` and expressions whose minute or hour begins with `*` go on in real time. Other expressions name times of the
 * clock: one in an hour that exists twice is its first, and all in an hour that does not exist are one tick, at the first moment after it.
 *
 * @param schedule without faults; a stored one in a zone that is none has no ticks
 */
export function nextTick(schedule: Schedule, after: number): number | null {
  if (schedule.cron === undefined) {
    const period = parseDuration(schedule.every ?? '') ?? Number.NaN
    return (Math.floor(after / period) + 1) * period
  }
  if (findUnknownZone(schedule) !== undefined) return null
  const cron = compileCron(schedule.cron)
  const zone = zoneOf(schedule)
  return cron.isRealTime ? nextInRealTime(cron, zone, after) : nextOnTheClock(cron, zone, after)
}

/**
 * Between two changes of the clocks, an offset leads from real time to the clock. What matches next on the clock stays the same over a change, unless
 * the clock jumps over it, or back behind where the search began: to search again takes up to 20 ms, and decades may lie between two ticks.
 */
function nextInRealTime(cron: CronTimes, zone: string, after: number): number | null {
  let from = after
  let offset = offsetAt(zone, from)
  let low = from + offset
  let clock = cron.next(low)
  while (clock !== null) {
    const change = findChange(zone, from, clock - offset)
    if (change === undefined) return clock - offset
    // The moment of the change may be a tick.
    const start = change.at + change.after - 1
    if (low > start || clock <= start) clock = cron.next(start)
    from = change.at
    offset = change.after
    low = start
  }
  return null
}

function nextOnTheClock(cron: CronTimes, zone: string, after: number): number | null {
  let clock = cron.next(after + offsetAt(zone, after))
  // After the first of two equal hours, the rest of the second has no ticks.
  while (clock !== null && instantOf(clock, zone) <= after) clock = cron.next(clock)
  return clock === null ? null : instantOf(clock, zone)
}

/** The data of a tick's event. */
export interface Tick {
  scheduledAt: string
  /** The same moment with the offset of the schedule's zone. */
  localTime: string
  /** How many ticks before it did not run. */
  missed: number
}

/** @param at epoch ms */
export function describeTick(schedule: Schedule, at: number, missed: number): Tick {
  return {
    scheduledAt: new Date(at).toISOString(),
    localTime: new ZonedTime(at, zoneOf(schedule)).toJSON(),
    missed,
  }
}
