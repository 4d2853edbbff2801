import { Type } from 'typebox'
import { isZone } from '../times/zone-names.js'

/** The trigger of a rule that runs by a schedule, and the type of its events. */
export const scheduleType = 'SCHEDULE'

/**
 * When a rule runs: by a cron expression in a time zone, or at multiples of a duration. One object, so that each fault is reported once:
 * findScheduleFaults says which fields belong together.
 */
export const Schedule = Type.Object(
  {
    cron: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Minute, hour, day of the month, month and day of the week, such as 0 9 * * 1-5. Required unless every is set.',
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'IANA time zone, such as Europe/Berlin. Required with cron.',
      }),
    ),
    every: Type.Optional(
      Type.String({
        maxLength: 10,
        description:
          'Duration of at least one minute, such as 15m. The ticks are its multiples since 1970 in UTC, whenever the rule was saved.',
      }),
    ),
    catchUp: Type.Optional(
      Type.Enum(['latest', 'none'], {
        description:
          'What becomes of ticks that are overdue, such as after an outage. latest: the newest one runs, and says how many it replaces. none: those that are more than 60 s late do not run. Default: latest.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Schedule' },
)
export type Schedule = Type.Static<typeof Schedule>

/** The zone of a stored schedule that is none, so that it has no ticks. */
export function findUnknownZone(schedule: Schedule): string | undefined {
  const zone = zoneOf(schedule)
  return schedule.cron === undefined || isZone(zone) ? undefined : zone
}

/** The zone in which the times of a schedule are written. */
export function zoneOf({ timezone = 'UTC' }: Schedule): string {
  return timezone
}
