import { type Database, groupCommit, isLockConflict } from '@automation/database'
import { openMetrics } from '@automation/telemetry'
import { type Outcome, recordOutcomes } from './record-outcomes.js'
import { recordSteps, type Step } from './record-steps.js'
import type { Run } from './run.js'
import { createWorkerMetrics } from './worker-metrics.js'

const maxItemsPerCommit = 200
const attempts = 5

export type Ledger = ReturnType<typeof createLedger>

/**
 * The only writer of outcomes: those of many jobs in one statement and one commit. A promise resolves after the
 * commit that holds its outcome, and only then may anybody be told of it.
 */
export function createLedger(database: Database, metrics = createWorkerMetrics(openMetrics())) {
  const writeOutcome = groupCommit(async (outcomes: Outcome[]) => {
    const begunAt = performance.now()
    const held = await untilUnlocked(() => recordOutcomes(database, outcomes))
    metrics.noteOutcomes(outcomes, begunAt)
    return outcomes.map(({ runs }) => runs.filter((run) => run.lease !== null && held.has(run.lease)))
  }, maxItemsPerCommit)
  const writeStep = groupCommit(async (steps: Step[]) => {
    const begunAt = performance.now()
    const written = await untilUnlocked(() => recordSteps(database, steps))
    metrics.noteSteps(
      steps.flatMap(({ run }, index) => (written[index] ? run : [])),
      begunAt,
    )
    return written
  }, maxItemsPerCommit)
  return {
    /** Records an event as done, together with its runs. Answers those that this worker has to go on with. */
    recordOutcome: (outcome: Outcome): Promise<Run[]> => writeOutcome(outcome),
    /** Records how far a run has come, under the lease that it was taken up with. False where it is another worker's now. */
    recordStep: (step: Step): Promise<boolean> => writeStep(step),
  }
}

/** Two workers met in the same rows; the statement changed nothing, so it can simply be said again. */
async function untilUnlocked<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (attempt === attempts || !isLockConflict(error)) throw error
    }
  }
}
