import { type Database, groupCommit, isLockConflict } from '@automation/database'
import { openMetrics } from '@automation/telemetry'
import { type Outcome, recordOutcomes } from './record-outcomes.js'
import { recordSteps, type Step } from './record-steps.js'
import type { FollowUps } from './returned-rows.js'
import type { Run } from './run.js'
import { createWorkerMetrics } from './worker-metrics.js'

const maxItemsPerCommit = 200
const attempts = 5

export type Ledger = ReturnType<typeof createLedger>

/**
 * The only writer of outcomes: those of many jobs in one statement and one commit. A promise resolves after the
 * commit that holds its outcome, and only then may anybody be told of it.
 *
 * @param followUp is called after a commit that asks for more than its runs
 */
export function createLedger(
  database: Database,
  metrics = createWorkerMetrics(openMetrics()),
  followUp: (followUps: FollowUps) => void = () => {},
) {
  const writeOutcome = groupCommit(async (outcomes: Outcome[]) => {
    const begunAt = performance.now()
    const { held, followUps } = await untilUnlocked(() => recordOutcomes(database, outcomes))
    metrics.noteOutcomes(
      outcomes.filter((_, index) => held[index] !== undefined),
      begunAt,
    )
    if (followUps) followUp(followUps)
    return held
  }, maxItemsPerCommit)
  const writeStep = groupCommit(async (steps: Step[]) => {
    const begunAt = performance.now()
    const { written, followUps } = await untilUnlocked(() => recordSteps(database, steps))
    metrics.noteSteps(
      steps.flatMap(({ run }, index) => (written[index] ? run : [])),
      begunAt,
    )
    if (followUps) followUp(followUps)
    return written
  }, maxItemsPerCommit)
  return {
    /**
     * Records an event as done, together with its runs. Returns those that this worker has to go on with; undefined where
     * another delivery of its job was first: then nothing of this outcome is stored, and nothing of it may be announced.
     */
    recordOutcome: (outcome: Outcome): Promise<Run[] | undefined> => writeOutcome(outcome),
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
