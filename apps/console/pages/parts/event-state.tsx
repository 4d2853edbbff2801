import type { EventSummary } from '@automation/client'
import { formatDay } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'
import { Mark } from './mark.js'
import { now } from './when.js'

/** What an event is at. One whose executions all wait is not in progress: it says until when. Failed ones count more than the rest. */
export function EventState({
  status,
  continuesAt,
  failed,
}: Pick<EventSummary, 'status' | 'continuesAt' | 'failed'>) {
  const waitsUntil = status === 'running' ? continuesAt : null
  if (failed > 0) return <Mark of="failed" word={`${waitsUntil ? 'waits' : status}, ${failed} failed`} />
  if (waitsUntil)
    return <Mark of="waiting" word={`waits until ${formatDay(waitsUntil, zone.value, now.value)}`} />
  return <Mark of={status} />
}
