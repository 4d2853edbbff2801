import type { Fault } from '../fault.js'
import { capitalize } from '../texts/capitalize.js'
import { findDurationFault, parseDuration } from '../times/duration.js'
import { describeNoZone, isZone } from '../times/zone-names.js'
import { findCronFault } from './cron.js'

const minuteMs = 60_000

/** The faults of a schedule that fits its schema. It takes any shape. */
export function findScheduleFaults(schedule: unknown): Fault[] {
  if (typeof schedule !== 'object' || schedule === null) return []
  const { cron, timezone, every } = schedule as Record<string, unknown>
  if (cron === undefined && every === undefined)
    return [{ field: 'schedule', message: 'Must have cron with timezone, or every' }]
  if (cron !== undefined && every !== undefined)
    return [{ field: 'schedule.every', message: 'Must be omitted with cron' }]
  const faults = every === undefined ? findZoneFaults(timezone) : findEveryFaults(every, timezone)
  const fault = typeof cron === 'string' ? findCronFault(cron) : undefined
  return fault === undefined ? faults : [{ field: 'schedule.cron', message: fault }, ...faults]
}

function findZoneFaults(timezone: unknown): Fault[] {
  if (timezone === undefined) return [{ field: 'schedule.timezone', message: 'Required with cron' }]
  return typeof timezone !== 'string' || isZone(timezone)
    ? []
    : [{ field: 'schedule.timezone', message: capitalize(describeNoZone(timezone)) }]
}

function findEveryFaults(every: unknown, timezone: unknown): Fault[] {
  const faults: Fault[] =
    timezone === undefined ? [] : [{ field: 'schedule.timezone', message: 'Must be omitted with every' }]
  if (typeof every !== 'string') return faults
  const fault =
    findDurationFault(every) ??
    ((parseDuration(every) ?? 0) < minuteMs ? 'must be at least one minute' : undefined)
  return fault === undefined ? faults : [{ field: 'schedule.every', message: capitalize(fault) }, ...faults]
}
