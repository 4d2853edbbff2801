import { createBatcher, type Database, isLockConflict } from '@automation/database'
import { type FollowUps, finishEvents, type Outcome, recordSteps, type Step } from '@automation/ledger'
import { openMetrics } from '@automation/telemetry'
import { createWorkerMetrics, type WorkerMetrics } from '../worker-metrics.js'
import type { Execution } from './execution.js'

/** What one commit takes: 200 events whose rules create 20 tasks each would be millions of rows. */
const limits = { maxItems: 200, maxWeight: 5_000 }
/** An outcome of more rows has commits apart: no light one waits behind it. */
const heavyRows = 1_000
/** How many bytes of tasks and emitted events count as a row. */
const bytesPerRow = 1_000
const maxAttempts = 5

/**
 * Records what this worker has done, the work of many jobs in one commit. A promise resolves after the commit that holds its
 * outcome or step; nothing of it may be published earlier.
 */
export class Recorder {
  readonly #database: Database
  readonly #metrics: WorkerMetrics
  readonly #followUp: (followUps: FollowUps) => void
  readonly #outcomes = this.#batchOutcomes()
  readonly #heavyOutcomes = this.#batchOutcomes()
  readonly #steps = createBatcher((steps: Step<Execution>[]) => this.#recordSteps(steps), {
    ...limits,
    weigh: ({ execution }) => countRows([execution]),
  })

  /** @param followUp is called after a commit that something has to follow */
  constructor(
    database: Database,
    metrics: WorkerMetrics = createWorkerMetrics(openMetrics()),
    followUp: (followUps: FollowUps) => void = () => {},
  ) {
    this.#database = database
    this.#metrics = metrics
    this.#followUp = followUp
  }

  /**
   * Records an event as done, together with its executions.
   *
   * @returns the executions that this worker continues; undefined where another delivery of the job was first: then nothing of this
   * outcome is stored, and nothing of it may be published
   */
  finishEvent(outcome: Outcome<Execution>): Promise<Execution[] | undefined> {
    return countRows(outcome.executions) > heavyRows ? this.#heavyOutcomes(outcome) : this.#outcomes(outcome)
  }

  /**
   * Records how far an execution has come, under the lease with which it was claimed.
   *
   * @returns false where another worker holds it by now
   */
  recordStep(step: Step<Execution>): Promise<boolean> {
    return this.#steps(step)
  }

  #batchOutcomes() {
    return createBatcher((outcomes: Outcome<Execution>[]) => this.#finishEvents(outcomes), {
      ...limits,
      weigh: ({ executions }) => countRows(executions),
    })
  }

  async #finishEvents(outcomes: Outcome<Execution>[]): Promise<(Execution[] | undefined)[]> {
    const startedAt = performance.now()
    const { held, followUps } = await retryOnLockConflict(() => finishEvents(this.#database, outcomes))
    this.#metrics.noteOutcomes(
      outcomes.filter((_, index) => held[index] !== undefined),
      startedAt,
    )
    if (followUps) this.#followUp(followUps)
    return held
  }

  async #recordSteps(steps: Step<Execution>[]): Promise<boolean[]> {
    const startedAt = performance.now()
    const { recorded, followUps } = await retryOnLockConflict(() => recordSteps(this.#database, steps))
    this.#metrics.noteSteps(
      steps.flatMap(({ execution }, index) => (recorded[index] ? execution : [])),
      startedAt,
    )
    if (followUps) this.#followUp(followUps)
    return recorded
  }
}

/** About how many rows executions write. */
export function countRows(executions: Execution[]): number {
  let rows = 0
  for (const { tasks, emitted } of executions) rows += 1 + tasks.length + emitted.length
  const [first] = executions
  return rows + (first === undefined ? 0 : first.budget.bytes / bytesPerRow)
}

/** Two workers met in the same rows. The statement changed nothing, so it can be repeated. */
async function retryOnLockConflict<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (attempt === maxAttempts || !isLockConflict(error)) throw error
    }
  }
}
