import type { Effect } from '@automation/engine'
import type { Span, Tracing } from '@automation/telemetry'
import type { OutsideAction } from './effects/effect.js'
import { destinationOf } from './effects/gate.js'
import type { LoadedEvent } from './load-events.js'
import type { Run } from './run.js'

/**
 * The worker's part of a trace. A run's place is known to whatever it causes: its calls, the events that it emits, and
 * the job that brings it back.
 *
 *   accept (API) ─▶ event ─┬─▶ record
 *                          └─▶ run ─┬─▶ call, one for each attempt while it is with this worker
 *                                   └┄┄ pause ┄┄▶ run goes on ─▶ call
 *
 * What Redis forgets, and the sweeper puts back, begins a trace of its own: the place travels with the job alone.
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

export function traceRuns(event: Span | undefined, runs: Run[]): void {
  if (event === undefined) return
  for (const run of runs) run.span = event.begin('run', 'internal', idsOf(run))
}

/** It belongs to the trace that it began in, however long ago that was. */
export function traceResumption(tracing: Tracing | undefined, run: Run, first: string | undefined): void {
  if (tracing === undefined) return
  const attributes = { ...idsOf(run), 'automation.event_id': run.event.id }
  run.span = tracing.begin('run goes on', 'consumer', { parent: first, link: first, attributes })
  run.firstPlace = first
}

/** Finished, or put off: this worker has it no more. */
export function endRunSpan({ span, status }: Run): void {
  span?.set({ 'automation.status': status })
  span?.end(status === 'failed')
}

export function traceCall({ span }: Run, action: OutsideAction): Span | undefined {
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

function idsOf({ executionId, rule }: Run) {
  return { 'automation.execution_id': executionId, 'automation.rule_id': rule.id }
}
