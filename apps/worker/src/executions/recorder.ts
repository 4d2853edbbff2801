import { setTimeout as delay } from 'node:timers/promises'
import { type FairQueue, ownerOf } from '@automation/admission'
import {
  createBatcher,
  createKeyedMutex,
  type Database,
  isLockConflict,
  isOutOfMemory,
  keyedTransactions,
  postgresNow,
} from '@automation/database'
import {
  type EmittedEvent,
  type Finished,
  type FollowUps,
  finishEvents,
  finishKeyedEvents,
  type LoadedEvent,
  noteStored,
  type Outcome,
  openWaitOf,
  queuedKeyOf,
  recordKeyedSteps,
  recordSteps,
  type Step,
} from '@automation/ledger'
import type { EventQueue } from '@automation/queue'
import type { Logger } from 'pino'
import type { WorkerMetrics } from '../worker-metrics.js'
import { countRows } from './cost.js'
import { isFaultOfCode } from './event-fault.js'
import { type Execution, idsOf } from './execution.js'
import { failRefused, isRefused, OutcomeRefused, writesRows } from './fail-refused.js'
import { endExecutionSpan } from './trace-executions.js'

/** What enters together has one commit, and a commit waits for no other one. One outcome may have more rows than this. */
const limits = { maxItems: 200, maxWeight: 1_000, atOnce: 10, patienceMs: 0 }
/**
 * With keys, a commit waits for others, and items meanwhile for it: two commits with one key would only wait for each other. None waits for a
 * connection: the two kinds of commits have two each, and the sweeper has one.
 */
const keyedLimits = { ...limits, atOnce: (keyedTransactions - 1) / 2, patienceMs: 1_000 }
const maxAttempts = 5
/** How long (ms) Postgres has to find memory again before a heavy outcome is to blame. */
const memoryPauseMs = 1_000
/** The job of a pause up to this long (ms) is added at once; the sweeper adds those of longer ones when they are due. */
const soonMs = 60_000

export interface RecorderParts {
  /** Decides when a row may be written. */
  commits: FairQueue
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
  /** A run that has lost its lease may still record. Beside the present holder's, its step would pass for recorded (recordSteps). */
  readonly #inTurn = createKeyedMutex()
  readonly #free = this.#openLane(limits, finishEvents, recordSteps)
  /** What waits for the lock of a key delays nothing without one. */
  readonly #keyed = this.#openLane(keyedLimits, finishKeyedEvents, recordKeyedSteps)

  constructor(parts: RecorderParts) {
    this.#parts = parts
  }

  /**
   * Records an event as done, together with its executions.
   *
   * @returns the executions that this worker continues; undefined where another delivery of the job was first
   * @throws OutcomeRefused if it would be refused each time
   */
  async finishEvent(outcome: Outcome<Execution>): Promise<Execution[] | undefined> {
    const { event, executions } = outcome
    const isKeyed = outcome.waitKeys !== undefined || executions.some(asksForKey)
    const lane = isKeyed ? this.#keyed : this.#free
    const record = (write: () => Promise<Execution[] | undefined>) =>
      this.#record(event, executions, 1, write)
    try {
      return await record(() => lane.finishEvent(outcome))
    } catch (error) {
      if (isRefused(error, 1 + countRows(executions))) throw new OutcomeRefused(error)
      if (!isFaultOfCode(error)) throw error
      // Any outcome of its batch may be the cause.
      return record(() => lane.finishAlone(outcome))
    }
  }

  /**
   * Records how far an execution has come, under the lease with which it was claimed.
   *
   * @returns false where another worker holds it by now
   */
  recordStep(step: Step<Execution>): Promise<boolean> {
    const { execution } = step
    return this.#inTurn(execution.record.id, () =>
      this.#record(execution.event, [execution], 0, () => {
        const isKeyed = openWaitOf(execution.record) !== undefined || queuedKeyOf(execution) !== undefined
        return (isKeyed ? this.#keyed : this.#free).recordStep(step)
      }),
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
    record: () => Promise<Result>,
  ): Promise<Result> {
    let suspects: Execution[][] | undefined
    let memoryMayReturn = true
    for (;;) {
      const rows = eventRows + countRows(executions)
      try {
        return await this.#parts.commits.run(ownerOf(event), record, { cost: rows })
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
        // What is decided about a key may be what is refused. An execution that has begun keeps its claim: others wait for its key.
        if (suspects.length === 0 && eventRows > 0)
          for (const execution of failing) execution.claim = undefined
      }
    }
  }

  /** Commits of a lane wait for none of another one. */
  #openLane(
    limits: typeof keyedLimits,
    finish: typeof finishKeyedEvents | typeof finishEvents,
    record: typeof recordKeyedSteps | typeof recordSteps,
  ) {
    return {
      finishEvent: createBatcher((outcomes: Outcome<Execution>[]) => this.#finishEvents(outcomes, finish), {
        ...limits,
        weigh: ({ executions, waitKeys = [] }) => countRows(executions) + waitKeys.length,
      }),
      finishAlone: async (outcome: Outcome<Execution>) => (await this.#finishEvents([outcome], finish))[0],
      recordStep: createBatcher((steps: Step<Execution>[]) => this.#recordSteps(steps, record), {
        ...limits,
        weigh: ({ execution }) => countRows([execution]),
      }),
    }
  }

  async #finishEvents(
    outcomes: Outcome<Execution>[],
    finish: typeof finishKeyedEvents | typeof finishEvents,
  ): Promise<(Execution[] | undefined)[]> {
    const { database, metrics } = this.#parts
    const startedAt = performance.now()
    const {
      held,
      followUps,
      rows,
      unbegun = [],
    } = await retryOnLockConflict<Finished<Execution> & { unbegun?: Execution[] }>(() =>
      finish(database, outcomes),
    )
    noteStored(
      rows,
      outcomes.flatMap(({ executions }) => executions),
    )
    for (const execution of unbegun) dropEffects(execution)
    const stored = outcomes.filter((_, index) => held[index] !== undefined)
    metrics.noteOutcomes(stored, startedAt)
    this.#publish(
      stored.flatMap(({ executions }) => executions),
      followUps,
    )
    return held
  }

  async #recordSteps(
    steps: Step<Execution>[],
    record: typeof recordKeyedSteps | typeof recordSteps,
  ): Promise<boolean[]> {
    const { database, metrics } = this.#parts
    const startedAt = performance.now()
    const { recorded, followUps, rows } = await retryOnLockConflict(() => record(database, steps))
    noteStored(
      rows,
      steps.map(({ execution }) => execution),
    )
    const stored = steps.flatMap(({ execution }, index) => (recorded[index] ? execution : []))
    metrics.noteSteps(stored, startedAt)
    this.#publish(stored, followUps)
    return recorded
  }

  #publish(stored: Execution[], followUps: FollowUps | undefined): void {
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
    if (dueAt !== null && dueAt.getTime() - postgresNow() <= soonMs) {
      const traceparent = execution.firstTraceparent ?? span?.traceparent
      const { id: eventId, workspaceId, createdBy } = event
      queue.addDue({ executionId, eventId, workspaceId, createdBy, dueAt, traceparent }).catch(() => {})
    }
    if (record.lease === null) endExecutionSpan(execution)
    if (log.isLevelEnabled('debug')) log.debug({ ...idsOf(execution), status }, 'execution recorded')
  }
}

/** Whether it is recorded under the lock of a key: that of its rule, or of what it waits for. */
function asksForKey(execution: Execution): boolean {
  return execution.claim !== undefined || openWaitOf(execution.record) !== undefined
}

/** Of an execution that has not begun: what was prepared for it is not recorded. */
function dropEffects(execution: Execution): void {
  execution.budget.refund(execution.emitted.length)
  Object.assign(execution, { tasks: [], emitted: [], effectBytes: 0 })
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
