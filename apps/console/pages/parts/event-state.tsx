import type { EventSummary } from '@automation/client'
import { formatDay } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'
import { Mark } from './mark.js'
import { now } from './when.js'

/** What an event is at. One whose executions all wait is not in progress: it says until when. */
export function EventState({ status, continuesAt }: Pick<EventSummary, 'status' | 'continuesAt'>) {
  if (status === 'running' && continuesAt !== null)
    return <Mark of="waiting" word={`waits until ${formatDay(continuesAt, zone.value, now.value)}`} />
  return <Mark of={status} />
}
