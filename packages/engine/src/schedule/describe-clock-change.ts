import { findChange, offsetAt } from './clock-changes.js'
import { compileCron } from './cron.js'
import { type Schedule, zoneOf } from './schedule.js'

const dayMs = 86_400_000

/** What a change of the clocks on the day of a tick means for it; null: the clocks are not changed. @param at epoch ms */
export function describeClockChange(schedule: Schedule, at: number): string | null {
  if (schedule.cron === undefined) return null
  const zone = zoneOf(schedule)
  const change = findChange(zone, at - dayMs, at + dayMs)
  if (change === undefined) return null
  const [from, to] = [change.at + change.before, change.at + change.after]
  const clock = at + offsetAt(zone, at)
  if (![from - 1, to].some((one) => dateOf(one) === dateOf(clock))) return null
  const changed = `clocks go from ${timeOf(from)} to ${timeOf(to)}`
  const cron = compileCron(schedule.cron)
  if (cron.next(clock - 1) !== clock)
    return `${timeOf(cron.next(from - 1) ?? from)} does not exist on this day: ${changed}`
  if (to <= clock && clock < from)
    return `The clock shows ${timeOf(clock)} twice on this day, and this is the ${at < change.at ? 'first' : 'second'} time: ${changed}`
  return `On this day, ${changed}`
}

function dateOf(clock: number): string {
  return new Date(clock).toISOString().slice(0, 10)
}

function timeOf(clock: number): string {
  return new Date(clock).toISOString().slice(11, 16)
}
