import { writeRun } from '../logic/editing/format-run.js'
import type { Schedule } from '../logic/editing/schedule-kinds.js'
import { formatBoth } from '../logic/format-time.js'

/** When a schedule runs next, by its own clock. */
export function NextRun({ at, schedule }: { at: string; schedule: Schedule }) {
  return (
    <time dateTime={at} title={formatBoth(at)}>
      {writeRun(at, schedule)}
    </time>
  )
}
