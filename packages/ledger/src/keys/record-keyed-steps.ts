import type { Database } from '@automation/database'
import type { RecordableExecution } from '../outcomes/execution-record.js'
import { addWoken } from '../outcomes/follow-ups.js'
import { type Recorded, recordSteps, type Step } from '../outcomes/record-steps.js'
import { settleWaits, waitLocksOf } from './settle-waits.js'
import { wakeQueues } from './wake-queues.js'
import { withKeys } from './with-keys.js'

/**
 * Records steps of executions that begin to wait for an event, or that others of their key may wait for, under the locks of their keys.
 *
 * @returns as recordSteps
 */
export function recordKeyedSteps(database: Pick<Database, 'transact'>, steps: Step[]): Promise<Recorded> {
  const executions = steps.map(({ execution }) => execution)
  const held = [...new Set(executions.flatMap((execution) => queuedKeyOf(execution) ?? []))]
  const keys = [...waitLocksOf([], executions), ...held.map((id) => `key ${id}`)]
  return withKeys(database, keys, async (statements) => {
    const { recorded, followUps, rows } = await recordSteps(statements, steps)
    const waiting = executions.filter((_, index) => recorded[index])
    const woken = [...(await settleWaits(statements, [], waiting)), ...(await wakeQueues(statements, held))]
    return { recorded, followUps: addWoken(followUps, woken), rows }
  })
}

/** The key that others may wait for while the execution holds it. */
export function queuedKeyOf({ claim }: RecordableExecution): string | undefined {
  const mode = claim?.perKey.whileRunning
  return mode === 'queue' || mode === 'replace' ? claim?.keyId : undefined
}
