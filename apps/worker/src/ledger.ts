import { type Database, groupCommit, isLockConflict } from '@automation/database'
import { type Outcome, recordOutcomes } from './record-outcomes.js'

const maxOutcomesPerCommit = 200
const attempts = 5

/**
 * The only writer of outcomes: those of many jobs in one statement and one commit. A promise resolves after the
 * commit that holds its outcome, and only then may anybody be told of it.
 */
export function createLedger(database: Database): (outcome: Outcome) => Promise<void> {
  return groupCommit(async (outcomes: Outcome[]) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await recordOutcomes(database, outcomes)
        return outcomes.map(() => undefined)
      } catch (error) {
        // Two workers met in the same rows; the statement changed nothing, so it can simply be said again.
        if (attempt === attempts || !isLockConflict(error)) throw error
      }
    }
  }, maxOutcomesPerCommit)
}
