import { NotAdmitted, ownerOf } from '@automation/admission'
import { createReadBatcher, type Database } from '@automation/database'
import { Evaluation, type WorkLimits } from '@automation/engine'
import { type LoadedEvent, loadEvents, loadIsolated, maxRefusals, noteRefusal } from '@automation/ledger'
import type { Tracing } from '@automation/process/telemetry'
import type { EventPointer, EventsJobData } from '@automation/queue'
import type { Logger } from 'pino'
import type { Admission } from '../admission.js'
import type { Executor } from '../calls/executor.js'
import type { Causation } from '../executions/causation.js'
import { EffectBudget } from '../executions/effect-budget.js'
import { findEventFault, isFaultOfCode } from '../executions/event-fault.js'
import type { Execution } from '../executions/execution.js'
import type { Recorder } from '../executions/recorder.js'
import { traceEvent } from '../executions/trace-executions.js'
import { untilPostgresIsBack } from '../executions/until-postgres-is-back.js'
import { EventWork, type Pause } from './event-work.js'
import { createRuleFinder } from './find-rules.js'
import { listWaitKeys } from './read-waited.js'
import { rehearse } from './rehearse.js'
import type { Replies } from './replies.js'
import { createIsolation } from './run-isolated.js'

/** Less than that of an API process (shared-buckets.ts): its jobs do not wait for each other, and those of several processes share a statement. */
const pauseMs = 4

export interface EventParts {
  admission: Admission
  database: Database
  recorder: Recorder
  executor: Executor
  replies: Replies
  causation: Causation
  workLimits: WorkLimits
  log: Logger
  tracing: Tracing | undefined
  onQuarantine: () => void
}

/**
 * Runs events. The life of an event:
 *
 *   load ─▶ find its rules ─▶ evaluate them ─▶ begin executions ─▶ commit the outcome ─▶ reply, or first make the calls (executor.ts)
 *     └▶ done already      └───────────── fails for what it is ─────────────┘
 *                                                    └▶ counted, and tried again ─▶ at the fifth time quarantined
 *
 * A worker that is killed on the way changes nothing: the job is delivered again and ends in the same rows.
 */
export class EventRunner {
  readonly #parts: EventParts
  readonly #load: (eventId: string) => Promise<LoadedEvent | 'isolate' | undefined>
  readonly #findRules: ReturnType<typeof createRuleFinder>
  readonly #isolate: ReturnType<typeof createIsolation>

  constructor(parts: EventParts) {
    const { database, admission, causation, onQuarantine } = parts
    this.#parts = parts
    this.#load = createReadBatcher((ids) => loadEvents(database, ids), { pauseMs })
    this.#findRules = createRuleFinder(database, causation)
    this.#isolate = createIsolation(database, admission.isolated, onQuarantine)
  }

  /**
   * Runs the events of a job, each by itself. An event that fails brings the job back, when the others are done.
   *
   * @param hasStalled whether the worker that had the job before stopped giving signs of life
   * @throws NotAdmitted if some of its events have to wait for others of their owner
   */
  async runAll(job: EventsJobData, hasStalled: boolean): Promise<void> {
    const runs = await Promise.allSettled(job.events.map((event) => this.#run(event, job, hasStalled)))
    const failures = runs.flatMap((run) => (run.status === 'rejected' ? [run.reason] : []))
    if (failures.length === 0) return
    throw failures.find((reason) => !(reason instanceof NotAdmitted)) ?? findShortest(failures)
  }

  async #run(pointer: EventPointer, job: EventsJobData, hasStalled: boolean): Promise<void> {
    const isIsolated = hasStalled || (await this.#runAdmitted(pointer, job)) === 'isolate'
    if (isIsolated) await this.#runIsolated(pointer, job)
  }

  async #runAdmitted(pointer: EventPointer, job: EventsJobData): Promise<'isolate' | undefined> {
    const entry = await this.#parts.admission.events.enter(ownerOf(pointer), { party: job })
    const begun: { work?: EventWork } = {}
    try {
      const event = await this.#load(pointer.id).catch((error) => {
        // Any event of those that were loaded together may be the cause.
        if (isFaultOfCode(error)) return 'isolate' as const
        throw error
      })
      if (event === undefined || event === 'isolate') return event
      await this.#countFault(pointer, async () => {
        begun.work = await this.#open(event, pointer)
        await this.#finish(begun.work, job, (cost) => entry.pause(cost))
      })
      return undefined
    } finally {
      entry.leave(begun.work?.cost ?? 0)
    }
  }

  /** Nothing of the event is read before its crash is counted: its data may be what ends workers. */
  #runIsolated(pointer: EventPointer, job: EventsJobData): Promise<void> {
    return this.#isolate(pointer, async (isToBeRehearsed) => {
      await this.#countFault(pointer, async () => {
        const event = await loadIsolated(this.#parts.database, pointer.id)
        if (event === undefined) return
        if (isToBeRehearsed) await rehearse(event, this.#parts)
        await this.#finish(await this.#open(event, pointer), job, async () => {})
      })
    })
  }

  /** An event that fails for what it is would fail each time. @throws the error, until it has been too often */
  async #countFault({ id: eventId }: EventPointer, run: () => Promise<void>): Promise<void> {
    const { database, onQuarantine, log } = this.#parts
    try {
      await run()
    } catch (error) {
      const fault = findEventFault(error)
      if (fault === undefined) throw error
      const reason = `${fault.what}, in ${maxRefusals} attempts: ${fault.why}`
      const noted = await noteRefusal(database, eventId, reason)
      if (noted === 'again') throw error
      if (noted === 'done') return
      onQuarantine()
      log.error({ err: error, eventId }, 'event is quarantined, because it fails in each attempt')
    }
  }

  async #open(event: LoadedEvent, { traceparent }: EventPointer): Promise<EventWork> {
    const { causation, executor, workLimits, tracing } = this.#parts
    const set = await this.#findRules(event)
    return new EventWork({
      event,
      set,
      budget: new EffectBudget(event, causation),
      evaluation: new Evaluation(event.acceptedAt, workLimits),
      span: traceEvent(tracing, event, traceparent),
      begin: (execution) => executor.begin([execution]),
    })
  }

  async #finish(work: EventWork, { replyTo }: EventsJobData, pause: Pause): Promise<void> {
    const { executor, replies, log } = this.#parts
    const { event, set, calls } = work
    let held: Execution[] | undefined
    try {
      await work.finish(pause)
      held = await this.#commit(work)
      work.span?.end()
    } finally {
      work.close(held, (call) => executor.abandon(call))
    }
    // The faster delivery replies to the caller, or the caller reads what it stored.
    if (held === undefined) return log.debug({ eventId: event.id }, 'event was already done')
    const { executions, outranked } = work
    // Rules are independent, so none waits for the calls of another.
    const ends = calls
      .filter(({ execution }) => held.includes(execution))
      .map((call) => executor.continue(call))
    log.debug({ eventId: event.id, executions: executions.length, calls: calls.length }, 'event done')
    if (replyTo === undefined) return
    const reply = () => replies.send(replyTo, event, set, { executions, outranked })
    if (calls.length > 0) void Promise.all(ends).then(reply)
    else reply()
  }

  /** @returns the executions that this worker continues; undefined if another delivery of the job was first */
  async #commit({ event, set, executions, outranked, span }: EventWork): Promise<Execution[] | undefined> {
    const { recorder, executor } = this.#parts
    const waitKeys = listWaitKeys(event, set.waited)
    const outcome = {
      event,
      ruleSetId: set.id,
      rulesVersion: set.rulesVersion,
      executions,
      outranked,
      ...(waitKeys && { waitKeys }),
    }
    const recording = span?.begin('record')
    try {
      // If the response is lost, the intents of calls may be committed, and only this worker knows that it has made none of them.
      return await untilPostgresIsBack(
        (isRepeated) => recorder.finishEvent({ ...outcome, isRepeated }),
        () => executor.isStopped,
      )
    } finally {
      recording?.end()
    }
  }
}

/** The events of a job belong to several owners: none waits for the backlog of another. */
function findShortest(refusals: NotAdmitted[]): NotAdmitted | undefined {
  return refusals.toSorted((left, right) => left.retryAfterMs - right.retryAfterMs)[0]
}
