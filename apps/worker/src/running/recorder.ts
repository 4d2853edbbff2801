import { setTimeout as delay } from 'node:timers/promises'
import { ownerOf } from '@automation/admission'
import {
  createBatcher,
  createKeyedMutex,
  type Database,
  isLockConflict,
  isOutOfMemory,
} from '@automation/database'
import {
  type EmittedEvent,
  type FollowUps,
  finishEvents,
  type GiveWay,
  type LoadedEvent,
  type Outcome,
  recordSteps,
  type Step,
} from '@automation/ledger'
import type { EventQueue } from '@automation/queue'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import { type CommitLane, CommitLanes } from './commit-lanes.js'
import { type Execution, idsOf } from './execution.js'
import { failRefused, isRefused, writesRows } from './fail-refused.js'
import { FailureDeliveries } from './failure-deliveries.js'
import { rest } from './rest.js'
import { endExecutionSpan } from './trace-executions.js'

/** What one commit takes: 200 events whose rules create 20 tasks each would be millions of rows. */
const limits = { maxItems: 200, maxWeight: 5_000 }
/** How many bytes of tasks and emitted events count as a row. */
const bytesPerRow = 1_000
const maxAttempts = 5
/** How long (ms) Postgres has to find memory again before a heavy outcome is to blame. */
const memoryPauseMs = 1_000
/** The job of a pause up to this long (ms) is added at once; the sweeper adds those of longer ones when they are due. */
const soonMs = 60_000

export interface RecorderParts {
  database: Database
  queue: Pick<EventQueue, 'addCaused' | 'addDue'>
  metrics: WorkerMetrics
  /** Called after a commit that something has to follow. */
  followUp: (followUps: FollowUps) => void
  log: Logger
}

/**
 * Records what this worker has done, the work of many jobs in one commit, and then adds the jobs of what was committed. A promise resolves
 * after that.
 */
export class Recorder {
  readonly #parts: RecorderParts
  readonly #lanes = new CommitLanes()
  readonly #failureDeliveries = new FailureDeliveries()
  /** Bulk commits are one at a time: of the few connections, the others stay for light ones and for loading. */
  readonly #oneAtATime = createKeyedMutex()
  /** A run that has lost its lease may still record. Beside the present holder's, its step would pass for recorded (recordSteps). */
  readonly #inTurn = createKeyedMutex()
  readonly #outcomes = {
    light: this.#batchOutcomes((outcomes) => this.#finishEvents(outcomes)),
    bulk: this.#batchOutcomes((outcomes) =>
      this.#oneAtATime('bulk', () => this.#finishEvents(outcomes, rest)),
    ),
  } satisfies Record<CommitLane, unknown>
  readonly #steps = {
    light: this.#batchSteps((steps) => this.#recordSteps(steps)),
    bulk: this.#batchSteps((steps) => this.#oneAtATime('bulk', () => this.#recordSteps(steps, rest))),
  } satisfies Record<CommitLane, unknown>

  constructor(parts: RecorderParts) {
    this.#parts = parts
  }

  /**
   * Records an event as done, together with its executions.
   *
   * @returns the executions that this worker continues; undefined where another delivery of the job was first: then nothing of this
   * outcome is stored
   */
  finishEvent(outcome: Outcome<Execution>): Promise<Execution[] | undefined> {
    const { event, executions } = outcome
    return this.#record(event, executions, 1, (lane) => this.#outcomes[lane](outcome))
  }

  /**
   * Records how far an execution has come, under the lease with which it was claimed.
   *
   * @returns false where another worker holds it by now
   */
  recordStep(step: Step<Execution>): Promise<boolean> {
    const { execution } = step
    return this.#inTurn(execution.record.id, () =>
      this.#record(execution.event, [execution], 0, (lane) => this.#steps[lane](step)),
    )
  }

  /**
   * Where what executions did cannot be stored, however often it is tried, their failure is recorded instead: first of those that write rows of
   * their own, and of all others only where that does not help.
   *
   * @param eventRows an event that is finished has a row of its own
   */
  async #record<Result>(
    event: LoadedEvent,
    executions: Execution[],
    eventRows: number,
    record: (lane: CommitLane) => Promise<Result>,
  ): Promise<Result> {
    let suspects: Execution[][] | undefined
    let memoryMayReturn = true
    for (;;) {
      const rows = eventRows + this.#countRows(executions)
      try {
        return await this.#lanes.record(ownerOf(event), rows, record)
      } catch (error) {
        if (isOutOfMemory(error) && memoryMayReturn) {
          memoryMayReturn = false
          await delay(memoryPauseMs)
          continue
        }
        suspects ??= [executions.filter(writesRows), executions].filter(({ length }) => length > 0)
        const failing = isRefused(error, rows) ? suspects.shift() : undefined
        if (failing === undefined) throw error
        const fields = { err: error, eventId: event.id, executions: failing.length }
        this.#parts.log.error(fields, 'executions fail, because what they did cannot be stored')
        for (const execution of failing) failRefused(execution, error)
      }
    }
  }

  #countRows(executions: Execution[]): number {
    return countRows(executions) + this.#failureDeliveries.count(executions)
  }

  #batchOutcomes(record: (outcomes: Outcome<Execution>[]) => Promise<(Execution[] | undefined)[]>) {
    return createBatcher(record, {
      ...limits,
      weigh: ({ executions }) => this.#countRows(executions),
      ownerOf: ({ event }) => ownerOf(event),
    })
  }

  #batchSteps(record: (steps: Step<Execution>[]) => Promise<boolean[]>) {
    return createBatcher(record, {
      ...limits,
      weigh: ({ execution }) => this.#countRows([execution]),
      ownerOf: ({ execution }) => ownerOf(execution.event),
    })
  }

  async #finishEvents(
    outcomes: Outcome<Execution>[],
    giveWay?: GiveWay,
  ): Promise<(Execution[] | undefined)[]> {
    const { database, metrics } = this.#parts
    const startedAt = performance.now()
    const { held, followUps } = await retryOnLockConflict(() => finishEvents(database, outcomes, giveWay))
    const stored = outcomes.filter((_, index) => held[index] !== undefined)
    metrics.noteOutcomes(stored, startedAt)
    this.#publish(
      stored.flatMap(({ executions }) => executions),
      followUps,
    )
    return held
  }

  async #recordSteps(steps: Step<Execution>[], giveWay?: GiveWay): Promise<boolean[]> {
    const { database, metrics } = this.#parts
    const startedAt = performance.now()
    const { recorded, followUps } = await retryOnLockConflict(() => recordSteps(database, steps, giveWay))
    const stored = steps.flatMap(({ execution }, index) => (recorded[index] ? execution : []))
    metrics.noteSteps(stored, startedAt)
    this.#publish(stored, followUps)
    return recorded
  }

  #publish(stored: Execution[], followUps: FollowUps | undefined): void {
    this.#failureDeliveries.note(stored, followUps)
    if (followUps) this.#parts.followUp(followUps)
    for (const execution of stored) this.#addJobs(execution)
  }

  /**
   * Adds the jobs of the events that an execution emitted, and of its own continuation. A job that cannot be added is left to the
   * sweeper.
   */
  #addJobs(execution: Execution): void {
    const { queue, log } = this.#parts
    const { record, event, span } = execution
    for (const siblings of groupByJob(execution.emitted)) {
      if (span) for (const emitted of siblings) emitted.traceparent = span.traceparent
      queue.addCaused(siblings).catch(() => {})
    }
    execution.emitted = []
    execution.tasks = []
    execution.effectBytes = 0
    const { id: executionId, dueAt, status } = record
    if (dueAt !== null && dueAt.getTime() - Date.now() <= soonMs) {
      const traceparent = execution.firstTraceparent ?? span?.traceparent
      const { id: eventId, workspaceId, createdBy } = event
      queue.addDue({ executionId, eventId, workspaceId, createdBy, dueAt, traceparent }).catch(() => {})
    }
    if (record.lease === null) endExecutionSpan(execution)
    if (log.isLevelEnabled('debug')) log.debug({ ...idsOf(execution), status }, 'execution recorded')
  }
}

/** About how many rows executions write, without the events for subscriptions. */
export function countRows(executions: Execution[]): number {
  let rows = 0
  for (const { tasks, emitted, effectBytes } of executions)
    rows += 1 + tasks.length + emitted.length + effectBytes / bytesPerRow
  return rows
}

/** The events of one job follow one another. */
function groupByJob(events: EmittedEvent[]): [EmittedEvent, ...EmittedEvent[]][] {
  const jobs: [EmittedEvent, ...EmittedEvent[]][] = []
  for (const event of events) {
    const last = jobs.at(-1)
    if (last !== undefined && last[0].jobId === event.jobId) last.push(event)
    else jobs.push([event])
  }
  return jobs
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
