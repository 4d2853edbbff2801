import { findUnknownZone, nextTick, type Schedule } from '@automation/engine'

/** With catchUp none, a tick that is later (ms) does not run, if nobody swept in that time. */
const onTimeMs = 60_000
/** How many ticks of a rule are counted at once, in some ms: a schedule of minutes has 43,200 in a month of outage. */
const countedAtOnce = 200

/** A schedule with a tick that is due (epoch ms). */
export interface DueSchedule {
  schedule: Schedule
  nextRunAt: number
  /** Ticks before that which did not run. */
  missed: number
  /** From when to when workers swept without a gap of that length, and left some ticks to the next sweep; null: never. */
  sweptSince: number | null
  sweptAt: number | null
}

/** What becomes of the ticks of a schedule that are due. */
export interface SettledTicks {
  /** The tick that runs now, and how many before it did not. */
  tick?: { at: number; missed: number }
  /** null: there is none. */
  nextRunAt: number | null
  missed: number
  /** More ticks are due than were counted. */
  isUnfinished?: boolean
  /** Why the schedule cannot be read. */
  fault?: string
}

/** Of several ticks that are due, the newest runs and says how many it stands for. @param now epoch ms */
export function settleTicks(due: DueSchedule, now: number): SettledTicks {
  const { schedule, nextRunAt, missed: before } = due
  const zone = findUnknownZone(schedule)
  // Another release may know it.
  if (zone !== undefined) return { nextRunAt, missed: before, fault: `${zone} is no IANA time zone` }
  let [at, missed] = [nextRunAt, before]
  try {
    for (let counted = 0; counted < countedAtOnce; counted++) {
      const next = nextTick(schedule, at)
      if (next === null || next > now) {
        const isDropped = schedule.catchUp === 'none' && now - at > onTimeMs && !wasPassedOver(due, at)
        return isDropped
          ? { nextRunAt: next, missed: missed + 1 }
          : { tick: { at, missed }, nextRunAt: next, missed: 0 }
      }
      at = next
      missed++
    }
  } catch (error) {
    // Another release may read it.
    return { nextRunAt, missed: before, fault: String(error) }
  }
  return { nextRunAt: at, missed, isUnfinished: true }
}

/** A sweep came in time, and was busy with others. */
function wasPassedOver({ sweptSince, sweptAt }: DueSchedule, at: number): boolean {
  return sweptSince !== null && sweptAt !== null && sweptSince <= at + onTimeMs && sweptAt >= at
}
