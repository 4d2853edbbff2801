import type { Database } from '@automation/database'
import type { FollowUps } from '../outcomes/follow-ups.js'
import { addWoken } from '../outcomes/follow-ups.js'
import { recordSteps, type Step } from '../outcomes/record-steps.js'
import { settleWaits, waitLocksOf } from '../waits/settle-waits.js'
import { withKeys } from './with-keys.js'

/** Records steps of executions that begin to wait for an event, under the locks of their keys. @returns as recordSteps */
export function recordKeyedSteps(
  database: Pick<Database, 'transact'>,
  steps: Step[],
): Promise<{ recorded: boolean[]; followUps: FollowUps | undefined }> {
  const executions = steps.map(({ execution }) => execution)
  return withKeys(database, waitLocksOf([], executions), async (statements) => {
    const { recorded, followUps } = await recordSteps(statements, steps)
    const waiting = executions.filter((_, index) => recorded[index])
    return { recorded, followUps: addWoken(followUps, await settleWaits(statements, [], waiting)) }
  })
}
