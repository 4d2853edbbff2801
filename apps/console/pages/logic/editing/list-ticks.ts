import { describeClockChange, describeTick, findScheduleFaults, nextTick } from '@automation/engine'
import { formatRun } from './format-run.js'
import type { Schedule } from './schedule-kinds.js'

export interface PlannedTick {
  /** `Mon, Nov 30, 09:00`, by the clock of the zone. */
  time: string
  /** What a change of the clocks means for it. */
  clockChange: string | null
}

/**
 * When a rule would run next, by the code of the service.
 *
 * @param now epoch ms
 * @returns the fault of the schedule, if it has one
 */
export function listTicks(
  schedule: Schedule,
  now: number,
  count: number,
): { fault?: string; ticks: PlannedTick[] } {
  const [fault] = findScheduleFaults(schedule)
  if (fault) return { fault: fault.message, ticks: [] }
  const ticks: PlannedTick[] = []
  for (let at = nextTick(schedule, now); at !== null && ticks.length < count; at = nextTick(schedule, at)) {
    const { localTime } = describeTick(schedule, at, 0)
    const time = formatRun(new Date(`${localTime.slice(0, 19)}Z`), 'UTC')
    ticks.push({ time, clockChange: describeClockChange(schedule, at) })
  }
  return { ticks }
}
