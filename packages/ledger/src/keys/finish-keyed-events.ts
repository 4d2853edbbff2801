import type { Database } from '@automation/database'
import type { RecordableExecution } from '../outcomes/execution-record.js'
import { finishEvents, type Outcome } from '../outcomes/finish-events.js'
import { addWoken, type FollowUps } from '../outcomes/follow-ups.js'
import { settleWaits, waitLocksOf } from '../waits/settle-waits.js'
import { withKeys } from './with-keys.js'

/**
 * Finishes events that depend on keys: those that a WAIT may wait for, and those with an execution that begins to wait for an event. One transaction,
 * under the locks of the keys.
 *
 * @returns as finishEvents
 */
export function finishKeyedEvents<Execution extends RecordableExecution>(
  database: Pick<Database, 'transact'>,
  outcomes: Outcome<Execution>[],
): Promise<{ held: (Execution[] | undefined)[]; followUps: FollowUps | undefined }> {
  const executions = outcomes.flatMap((outcome) => outcome.executions)
  return withKeys(database, waitLocksOf(outcomes, executions), async (statements) => {
    const { held, followUps } = await finishEvents(statements, outcomes)
    const finished = outcomes.filter((_, index) => held[index] !== undefined)
    const recorded = finished.flatMap((outcome) => outcome.executions)
    return { held, followUps: addWoken(followUps, await settleWaits(statements, finished, recorded)) }
  })
}
