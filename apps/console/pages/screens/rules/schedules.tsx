import '../../styles/history.css'
import { describeSchedule } from '../../logic/editing/schedule-kinds.js'
import { formatDuration } from '../../logic/format-time.js'
import { Mark } from '../../parts/mark.js'
import { NextRun } from '../../parts/next-run.js'
import { Rows } from '../../parts/rows.js'
import { Empty, Unread } from '../../parts/states.js'
import { now } from '../../parts/when.js'
import { may } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { useRules } from '../../state/use-rules.js'

/** What runs next by itself, and when? */
export function Schedules() {
  const found = useRules()
  if (!found.data) return <Unread {...found} what="schedules" rows={3} />
  const scheduled = found.data.rules
    .filter(({ schedule }) => schedule !== null)
    .toSorted((left, right) => orderOf(left.nextRunAt) - orderOf(right.nextRunAt))
  if (scheduled.length === 0)
    return (
      <Empty title="No schedules">
        <p>A rule with the trigger “on a schedule” runs by itself, such as every weekday at 09:00.</p>
        {may('create') && (
          <a class="button" href={linkTo('rules/new', { trigger: 'SCHEDULE' })}>
            Write one
          </a>
        )}
      </Empty>
    )
  return (
    <Rows
      items={scheduled}
      label="schedules"
      columns={['Rule', 'Runs', 'Next']}
      row={({ id, name, schedule, nextRunAt }) => (
        <>
          <th scope="row">
            <a href={linkTo(`rules/${id}`)}>{name}</a>
          </th>
          <td class="line" title={schedule ? describeSchedule(schedule) : ''}>
            {schedule && describeSchedule(schedule)}
          </td>
          <td class="at">
            {nextRunAt && schedule ? (
              <>
                <NextRun at={nextRunAt} schedule={schedule} /> <span class="quiet">{sayIn(nextRunAt)}</span>
              </>
            ) : (
              <Mark of="skipped" word="off" />
            )}
          </td>
        </>
      )}
    />
  )
}

/** Those that are off come last. */
function orderOf(nextRunAt: string | null): number {
  return nextRunAt === null ? Number.POSITIVE_INFINITY : Date.parse(nextRunAt)
}

function sayIn(at: string): string {
  const ms = Date.parse(at) - now.value.getTime()
  return ms > 0 ? `in ${formatDuration(ms)}` : 'now'
}
