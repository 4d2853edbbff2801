import { timeOfId } from '../logic/format-time.js'
import { linkTo } from './use-filters.js'

/** An event is accepted by the clock of Postgres, a moment after a process made its id. */
const acceptanceMs = 5_000

/** An event in a list that has it: the list ends at it, so its row is there and marked. */
export function linkToEvent(id: string): string {
  return linkTo('events', { id, to: momentAfter(id, acceptanceMs) })
}

/** An execution in a list that has it. Its id has the time of its event. */
export function linkToExecution(id: string): string {
  return linkTo('executions', { id, to: momentAfter(id, 1) })
}

function momentAfter(id: string, ms: number): string | undefined {
  const time = timeOfId(id) + ms
  // An id of another kind has no time.
  return time > 0 && time < Date.now() ? new Date(time).toISOString() : undefined
}
