import { postgresNow, waitKeyOf } from '@automation/database'
import {
  type ActionResult,
  type EndingEvent,
  findWaitEnd,
  keepWaited,
  type Match,
  settleAction,
  type WaitFor,
  writeMatch,
} from '@automation/engine'
import { nothingSeen, type OpenWait } from '@automation/ledger'
import type { ActionOf } from '../effects/effect.js'
import type { Execution } from './execution.js'

/**
 * A WAIT for an event. When it is reached, the execution is suspended in any case: the commit that suspends it finds an event that it has missed, and
 * makes it due again (settleWaits). The worker that claims it then has looked for the event, and what it has found ends the WAIT here.
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
  const until = known?.status === 'scheduled' && known.until ? Date.parse(known.until) : deadlineOf(action)
  const done = settleAction(action, { status: 'success' })
  // It was for this WAIT: the next one is looked for anew.
  execution.look = undefined
  if (known?.status === 'scheduled' && look?.found) {
    const result = endByEvent(execution, action, look.found, done)
    return { result, dueAt: new Date(postgresNow()) }
  }
  if (known?.status === 'scheduled' && look?.refusal !== undefined) {
    const failed = settleAction(action, { status: 'failed', error: look.refusal, isFinal: true })
    return { result: failed, dueAt: new Date(postgresNow()) }
  }
  if (known?.status === 'scheduled' && look?.isOver)
    return {
      result: { ...done, until: laterOf(action.at, until), ended: 'time' },
      dueAt: new Date(postgresNow()),
    }
  const match: Match = action.config.for?.match ?? {}
  const { eventType } = waitFor
  record.wait = {
    key: waitKeyOf(execution.event.workspaceId, writeMatch(eventType, match)),
    eventType,
    seen: look?.seen ?? nothingSeen,
    after: findAfter(execution),
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

/** Only a later event ends a WAIT: than that of the execution, and than the one that ended the WAIT before it. */
export function findAfter({ record, event }: Execution): OpenWait['after'] {
  const last = record.results.findLast((result) => result?.endedBy)?.endedBy
  return last === undefined
    ? { acceptedAt: event.acceptedAt, id: event.id }
    : { acceptedAt: Date.parse(last.acceptedAt), id: last.eventId }
}

function endByEvent(
  { record, rule: { compiled } }: Execution,
  action: ActionOf<'WAIT'>,
  { id, acceptedAt, data }: EndingEvent,
  done: ActionResult,
): ActionResult {
  const ended = {
    until: laterOf(action.at, acceptedAt),
    ended: 'event' as const,
    endedBy: { eventId: id, acceptedAt: new Date(acceptedAt).toISOString() },
  }
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

/** Time does not run backwards for the actions after a WAIT. */
export function laterOf(reachedAt: number, endedAt: number): string {
  return new Date(Math.max(reachedAt, endedAt)).toISOString()
}

/** Workers that are late do not change which events end a WAIT until a date. */
function deadlineOf(action: ActionOf<'WAIT'>): number {
  return action.config.until === undefined ? endOf(action) : (action.deadline ?? action.at)
}

/** A date is the same whenever a worker reads it; a duration begins now. */
export function endOf({ config, end, at }: ActionOf<'WAIT'>): number {
  if (config.until !== undefined) return end ?? at
  const found = findWaitEnd(config, postgresNow())
  return 'fault' in found ? at : found.end
}
