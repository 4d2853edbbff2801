import type { Switches } from './switches.js'
import type { Tables } from './tables.js'

/**
 * The rules wait for longer than the storm, and were switched off in the end: each of their executions is cancelled, and none has gone on to its
 * next action. One sentence for each violation.
 */
export function checkSwitches(
  { violations }: Pick<Switches, 'violations'>,
  { events, executions, tasks }: Pick<Tables, 'events' | 'executions' | 'tasks'>,
): string[] {
  const open = events.filter(({ isDone, quarantined }) => !isDone || quarantined)
  const others = executions.filter(({ status }) => status !== 'cancelled')
  return [
    ...violations,
    ...open.map(({ id }) => `switched event ${id}: it is not done`),
    ...others.map(({ id, status, error }) => `switched execution ${id}: it is ${status} (${error})`),
    ...tasks.map(({ executionId }) => `switched execution ${executionId}: it has created its task`),
  ]
}
