import type { Effect } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import type { Span, Tracing } from '@automation/process/telemetry'
import { destinationOf, type OutsideAction } from '../effects/effect.js'
import type { Execution } from './execution.js'

/**
 * The worker's part of a trace. What an execution causes continues its trace: calls, emitted events, and the job that resumes it.
 *
 *   accept (API) ─▶ event ─┬─▶ record
 *                          └─▶ execution ─┬─▶ call, one for each attempt while this worker holds it
 *                                         └┄┄ pause ┄┄▶ execution resumed ─▶ call
 *
 * A job that Redis lost and the sweeper restored begins a new trace: the traceparent travels with the job alone.
 */
export function traceEvent(
  tracing: Tracing | undefined,
  { id, workspaceId, type }: LoadedEvent,
  parent: string | undefined,
): Span | undefined {
  return tracing?.begin('event', 'consumer', {
    parent,
    attributes: {
      'automation.event_id': id,
      'automation.event_type': type,
      'automation.workspace_id': workspaceId,
    },
  })
}

export function traceExecution(event: Span | undefined, execution: Execution): void {
  if (event !== undefined) execution.span = event.begin('execution', 'internal', attributesOf(execution))
}

/** A resumed execution belongs to the trace in which it began, however long ago that was. */
export function traceResumption(
  tracing: Tracing | undefined,
  execution: Execution,
  first: string | undefined,
): void {
  if (tracing === undefined) return
  const attributes = { ...attributesOf(execution), 'automation.event_id': execution.event.id }
  execution.span = tracing.begin('execution resumed', 'consumer', { parent: first, link: first, attributes })
  execution.firstTraceparent = first
}

/** Ends the span of an execution that is finished or released. */
export function endExecutionSpan({ span, record }: Execution): void {
  span?.set({ 'automation.status': record.status })
  span?.end(record.status === 'failed')
}

export function traceCall({ span }: Execution, action: OutsideAction): Span | undefined {
  return span?.begin(action.type, 'client', {
    'automation.action_index': action.of.index,
    'server.address': destinationOf(action),
  })
}

export function endCallSpan(span: Span | undefined, effect: Effect | undefined): void {
  if (span === undefined) return
  const { statusCode } = (effect?.output ?? {}) as { statusCode?: number }
  if (statusCode !== undefined) span.set({ 'http.response.status_code': statusCode })
  span.end(effect?.status !== 'success')
}

function attributesOf({ record }: Execution) {
  return { 'automation.execution_id': record.id, 'automation.rule_id': record.handlerId }
}
