import { lowestId, waitKeyOf } from '@automation/database'
import {
  type ActionResult,
  decisionPath,
  type EndingEvent,
  expiredDecision,
  findWaitEnd,
  keepWaited,
  type Match,
  readDecision,
  settleAction,
  type WaitFor,
  writeMatch,
} from '@automation/engine'
import { nothingSeen, type OpenWait } from '@automation/ledger'
import type { ActionOf } from '../effects/effect.js'
import type { Execution } from './execution.js'

/**
 * A WAIT for an event. When it is reached, the execution is suspended in any case: the commit that suspends it finds an event that it has missed, and
 * makes it due again (settleWaits). Whoever claims it then has looked for the event, and what it has found ends the WAIT here.
 *
 * @returns its result; one that is scheduled is also noted in the record, with the moment at which it is due
 */
export function awaitEvent(
  execution: Execution,
  action: ActionOf<'WAIT'>,
  waitFor: WaitFor,
): { result: ActionResult; dueAt: Date } {
  const { record, look } = execution
  const known = record.results[action.of.index]
  const until = known?.status === 'scheduled' && known.until ? Date.parse(known.until) : endOf(action)
  const done = settleAction(action, { status: 'success' })
  // It was for this WAIT: the next one is looked for anew.
  execution.look = undefined
  if (known?.status === 'scheduled' && look?.found) {
    const result = endByEvent(execution, action, waitFor, look.found, done)
    return { result, dueAt: new Date() }
  }
  if (known?.status === 'scheduled' && look?.refusal !== undefined) {
    const failed = settleAction(action, { status: 'failed', error: look.refusal, isFinal: true })
    return { result: failed, dueAt: new Date() }
  }
  if (known?.status === 'scheduled' && look?.isOver)
    return {
      result: {
        ...done,
        until: new Date(until).toISOString(),
        ended: 'time',
        ...(waitFor.isDecision && { decision: expiredDecision }),
      },
      dueAt: new Date(),
    }
  const match: Match = waitFor.isDecision ? { [decisionPath]: record.id } : (action.config.for?.match ?? {})
  const { eventType } = waitFor
  record.wait = {
    key: waitKeyOf(execution.event.workspaceId, writeMatch(eventType, match)),
    eventType,
    // Each decision has a key, however young the rule is.
    seen: look?.seen ?? (waitFor.isDecision ? '0' : nothingSeen),
    after: findAfter(execution, waitFor),
    until,
  }
  const result: ActionResult = {
    ...withWarnings(done, look?.warnings),
    status: 'scheduled',
    until: new Date(until).toISOString(),
    waitsFor: { eventType, match },
  }
  return { result, dueAt: new Date(look?.again ?? until) }
}

/**
 * Only a later event ends a WAIT: than that of the execution, and than the one that ended the WAIT before it. A decision names its
 * execution, so each one counts: also one of before the end of a batch, which the execution takes for its event.
 */
export function findAfter({ record, event }: Execution, { isDecision }: WaitFor): OpenWait['after'] {
  const last = record.results.findLast((result) => result?.endedBy && !result.decision)?.endedBy
  if (isDecision) return { acceptedAt: 0, id: lowestId }
  return last === undefined
    ? { acceptedAt: event.acceptedAt, id: event.id }
    : { acceptedAt: Date.parse(last.acceptedAt), id: last.eventId }
}

function endByEvent(
  { record, rule: { compiled } }: Execution,
  action: ActionOf<'WAIT'>,
  { isDecision }: WaitFor,
  { id, acceptedAt, data }: EndingEvent,
  done: ActionResult,
): ActionResult {
  const ended = {
    // Time does not run backwards for the actions after it.
    until: new Date(Math.max(action.at, acceptedAt)).toISOString(),
    ended: 'event' as const,
    endedBy: { eventId: id, acceptedAt: new Date(acceptedAt).toISOString() },
  }
  if (isDecision) return { ...done, ...ended, decision: readDecision(data) }
  const fields = 'fault' in compiled ? [] : compiled.waitedFields
  const { waited, warnings } = keepWaited(data, fields)
  // Only the last one is read.
  for (const result of record.results) delete result?.waited
  return { ...withWarnings(done, warnings), ...ended, waited }
}

function withWarnings(result: ActionResult, more: string[] = []): ActionResult {
  const warnings = [...(result.warnings ?? []), ...more]
  return warnings.length === 0 ? result : { ...result, warnings }
}

/** A date is the same whenever a worker reads it; a duration begins now. */
export function endOf({ config, end, at }: ActionOf<'WAIT'>): number {
  if (config.until !== undefined) return end ?? at
  const found = findWaitEnd(config, Date.now())
  return 'fault' in found ? at : found.end
}
