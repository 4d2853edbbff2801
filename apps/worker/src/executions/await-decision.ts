import { postgresNow } from '@automation/database'
import { type ActionResult, decisionType, expiredDecision, settleAction } from '@automation/engine'
import type { ActionOf } from '../effects/effect.js'
import { endOf, laterOf } from './await-event.js'
import type { Execution } from './execution.js'

/** After how long (ms), by Postgres' clock, an execution is claimed again that was claimed a little before the end of its time. */
const againMs = 250

/**
 * A WAIT for a decision. When it is reached, the execution is suspended in any case: the commit that suspends it makes it due again if there is a decision
 * (record-steps.ts), and so does a later decision (recordDecision). What its next worker finds in its row ends the WAIT here.
 *
 * @returns its result, and where that is scheduled, the moment at which it is due
 */
export function awaitDecision(
  { record, claimed }: Execution,
  action: ActionOf<'WAIT'>,
): { result: ActionResult; dueAt: Date } {
  const known = record.results[action.of.index]
  const isReached = known?.status === 'scheduled'
  const until = isReached && known.until ? Date.parse(known.until) : endOf(action)
  const done = settleAction(action, { status: 'success' })
  if (isReached && claimed?.decision) {
    const { at, ...decision } = claimed.decision
    const end = laterOf(action.at, Date.parse(at))
    return { result: { ...done, until: end, ended: 'decision', decision }, dueAt: new Date(postgresNow()) }
  }
  if (isReached && claimed && claimed.at > until) {
    const end = laterOf(action.at, until)
    return {
      result: { ...done, until: end, ended: 'time', decision: expiredDecision },
      dueAt: new Date(postgresNow()),
    }
  }
  return {
    result: {
      ...done,
      status: 'scheduled',
      until: new Date(until).toISOString(),
      waitsFor: { eventType: decisionType, match: {} },
    },
    dueAt: new Date(isReached && claimed ? Math.max(until, claimed.at + againMs) : until),
  }
}
