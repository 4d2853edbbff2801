import type { EventQueue } from '@automation/queue'
import type { Logger } from 'pino'
import { type Execution, idsOf } from '../running/execution.js'
import { endExecutionSpan } from '../running/trace-executions.js'

/** The job of a pause up to this long (ms) is added at once; the sweeper adds those of longer ones when they are due. */
const soonMs = 60_000

/**
 * Adds the jobs of what was committed with an execution: the events that it emitted, and its own continuation. A job that cannot be
 * added is left to the sweeper.
 */
export function publishEffects(
  execution: Execution,
  queue: Pick<EventQueue, 'addAlone' | 'addDue'>,
  log: Logger,
): void {
  const { record, event, span } = execution
  for (const emitted of execution.emitted) {
    if (span) emitted.traceparent = span.traceparent
    queue.addAlone(emitted).catch(() => {})
  }
  execution.emitted = []
  execution.tasks = []
  const { id: executionId, dueAt, status } = record
  if (dueAt !== null && dueAt.getTime() - Date.now() <= soonMs) {
    const traceparent = execution.firstTraceparent ?? span?.traceparent
    const { id: eventId, workspaceId } = event
    queue.addDue({ executionId, eventId, workspaceId, dueAt, traceparent }).catch(() => {})
  }
  if (record.lease === null) endExecutionSpan(execution)
  if (log.isLevelEnabled('debug')) log.debug({ ...idsOf(execution), status }, 'execution recorded')
}
