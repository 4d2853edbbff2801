import { formatDay } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'
import { now } from './when.js'

/** The service does not know whether somebody has done a task, so one in the past is not late. */
export function Due({ at }: { at: string | null }) {
  if (at === null) return <span class="quiet">no date</span>
  return <time dateTime={at}>{formatDay(at, zone.value, now.value)}</time>
}
