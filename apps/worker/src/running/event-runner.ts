import { setImmediate as nextTurn } from 'node:timers/promises'
import { createReadBatcher, type Database } from '@automation/database'
import { Evaluation, type WorkLimits } from '@automation/engine'
import { type LoadedEvent, loadEvents, loadIsolated } from '@automation/ledger'
import type { Span, Tracing } from '@automation/process/telemetry'
import type { EventPointer, EventsJobData } from '@automation/queue'
import type { Logger } from 'pino'
import type { Executor } from '../calls/executor.js'
import type { HeldExecution } from '../calls/held-execution.js'
import { untilPostgresIsBack } from '../calls/until-postgres-is-back.js'
import { findAddressee } from './addressee.js'
import { beginInTurns } from './begin-in-turns.js'
import type { Causation } from './causation.js'
import { busyRows } from './commit-lanes.js'
import { EffectBudget } from './effect-budget.js'
import { EventEvaluation, type Execution } from './execution.js'
import { type HeavyWork, Postponed } from './heavy-work.js'
import { countRows, type Recorder } from './recorder.js'
import { rehearse } from './rehearse.js'
import type { Replies } from './replies.js'
import { leastRestMs } from './rest.js'
import { createCompiledRules, makeSetOfOne, noRules, type RuleSet } from './rule-set.js'
import { createIsolation } from './run-isolated.js'
import { TimeSlices } from './time-slices.js'
import { traceEvent, traceExecutions } from './trace-executions.js'
import type { UnderWay } from './under-way.js'

export interface EventParts {
  database: Database
  recorder: Recorder
  executor: Executor
  replies: Replies
  causation: Causation
  heavyWork: HeavyWork
  underWay: UnderWay
  workLimits: WorkLimits
  log: Logger
  tracing: Tracing | undefined
  onQuarantine: () => void
}

/** After so long (ms) in the line of its owner an event is loaded again: its rules may have been changed. */
const staleMs = 1_000

/**
 * Runs events. The life of an event:
 *
 *   load ─▶ find its rules ─▶ begin executions ─▶ commit the outcome ─▶ reply, or first make the calls (executor.ts)
 *     └▶ done already
 *
 * A worker that is killed on the way changes nothing: the job is delivered again and ends in the same rows.
 */
export class EventRunner {
  readonly #parts: EventParts
  readonly #load: (eventId: string) => Promise<LoadedEvent | 'isolate' | undefined>
  readonly #findRules: (event: LoadedEvent) => Promise<RuleSet>
  readonly #slices = new TimeSlices()
  readonly #isolate: ReturnType<typeof createIsolation>

  constructor(parts: EventParts) {
    const { database, heavyWork, onQuarantine } = parts
    this.#parts = parts
    this.#load = createReadBatcher((ids) => loadEvents(database, ids))
    this.#findRules = createCompiledRules(database, (event, tookMs) => heavyWork.giveWay(event, tookMs))
    this.#isolate = createIsolation(database, onQuarantine)
  }

  /**
   * Runs the events of a job, each by itself. An event that fails brings the job back, where the others are done already.
   *
   * @param hasStalled whether the worker that had the job before stopped giving signs of life
   * @throws Postponed where some of its events have to wait for others of their workspace
   */
  async runAll(job: EventsJobData, hasStalled: boolean): Promise<void> {
    const runs = await Promise.allSettled(job.events.map((event) => this.#run(event, job, hasStalled)))
    const failures = runs.flatMap((run) => (run.status === 'rejected' ? [run.reason] : []))
    if (failures.length === 0) return
    throw failures.find((reason) => !(reason instanceof Postponed)) ?? findShortest(failures)
  }

  async #run(pointer: EventPointer, job: EventsJobData, hasStalled: boolean): Promise<void> {
    const { id, workspaceId, traceparent } = pointer
    const { heavyWork } = this.#parts
    heavyWork.check(workspaceId, job)
    const event = hasStalled ? 'isolate' : await this.#load(id)
    if (event === undefined) return
    if (event === 'isolate') return heavyWork.run(workspaceId, job, () => this.#runIsolated(pointer, job))
    if (await this.#runLight(event, job, traceparent)) return
    await heavyWork.runInTurn(workspaceId, job, async () => {
      // Its rules may have been changed while it waited.
      const current = await this.#load(id)
      if (current === undefined || current === 'isolate') return
      await this.#trace(current, await this.#findSet(current), job, traceparent)
    })
  }

  /** @returns false where the workspace is beyond its allowance: then it has to take turns */
  async #runLight(event: LoadedEvent, job: EventsJobData, traceparent: string | undefined): Promise<boolean> {
    const { heavyWork, underWay } = this.#parts
    // To compile rules may take seconds: meanwhile the event must not stop its owner's other workspaces.
    const set = await this.#findSet(event)
    return underWay.run(event, async (leave, waitedMs) => {
      const current = waitedMs > staleMs ? await this.#load(event.id) : event
      if (current === undefined || current === 'isolate') return true
      const currentSet = current === event ? set : await this.#findSet(current)
      await this.#slices.begin()
      if (heavyWork.isExceeded(event.workspaceId)) return false
      await this.#trace(current, currentSet, job, traceparent, leave)
      return true
    })
  }

  /** Nothing of the event is read before its crash is counted: its data may be what ends workers. */
  #runIsolated(pointer: EventPointer, job: EventsJobData): Promise<void> {
    return this.#isolate(pointer, async (isToBeRehearsed) => {
      const event = await loadIsolated(this.#parts.database, pointer.id)
      if (event === undefined) return
      if (isToBeRehearsed) await rehearse(event, this.#parts)
      await this.#trace(event, await this.#findSet(event), job, pointer.traceparent)
    })
  }

  async #trace(
    event: LoadedEvent,
    set: RuleSet,
    { replyTo }: EventsJobData,
    traceparent: string | undefined,
    onHeavy = () => {},
  ): Promise<void> {
    const span = traceEvent(this.#parts.tracing, event, traceparent)
    try {
      await this.#finish(event, set, replyTo, onHeavy, span)
      span?.end()
    } finally {
      span?.end(true)
    }
  }

  async #finish(
    event: LoadedEvent,
    set: RuleSet,
    replyTo: string | undefined,
    onHeavy: () => void,
    span?: Span,
  ): Promise<void> {
    const { recorder, executor, replies, causation, heavyWork, workLimits, log } = this.#parts
    const budget = new EffectBudget(event, causation)
    const evaluation = new Evaluation(event.acceptedAt, workLimits)
    const eventEvaluation = new EventEvaluation(set, event, budget, evaluation)
    let begunAt = performance.now()
    while (!eventEvaluation.advance()) {
      onHeavy()
      heavyWork.depositEvaluation(event, evaluation.spent)
      await heavyWork.takeTurn(event, performance.now() - begunAt)
      begunAt = performance.now()
    }
    const { executions } = eventEvaluation
    traceExecutions(span, executions)
    const begun = this.#begin(event, executions, onHeavy)
    const calls = begun instanceof Promise ? await begun : begun
    const rows = countRows(executions)
    if (rows > busyRows) onHeavy()
    heavyWork.charge(event, evaluation.spent, rows)
    const left = new Set(calls)
    const ends: Promise<void>[] = []
    const recording = span?.begin('record')
    let isStored = false
    try {
      const outcome = { event, ruleSetId: set.id, rulesVersion: set.rulesVersion, executions }
      // If the response is lost, the intents of calls may be committed, and only this worker knows that it has made none of them.
      const held = await untilPostgresIsBack(
        (isRepeated) => recorder.finishEvent({ ...outcome, isRepeated }),
        () => executor.isStopped,
      )
      isStored = held !== undefined
      recording?.end()
      // The faster delivery replies to the caller, or the caller reads what it stored.
      if (held === undefined) {
        for (const execution of executions) execution.span?.end(true)
        return log.debug({ eventId: event.id }, 'event was already done')
      }
      // Rules are independent, so none waits for the calls of another.
      for (const call of calls) {
        if (!held.includes(call.execution)) continue
        left.delete(call)
        ends.push(executor.continue(call))
      }
    } finally {
      for (const call of left) executor.abandon(call)
      if (!isStored) budget.refund()
    }
    log.debug({ eventId: event.id, executions: executions.length, calls: calls.length }, 'event done')
    if (replyTo === undefined) return
    const reply = () => replies.send(replyTo, event, set, executions)
    if (calls.length > 0) void Promise.all(ends).then(reply)
    else reply()
  }

  /** @returns a promise only where that takes several turns of the event loop */
  #begin(
    event: LoadedEvent,
    executions: Execution[],
    onHeavy: () => void,
  ): HeldExecution[] | Promise<HeldExecution[]> {
    const { executor, heavyWork } = this.#parts
    const calls: HeldExecution[] = []
    let begun = 0
    /** Since the last rest. */
    let tookMs = 0
    const giveWay = (turnMs: number) => {
      onHeavy()
      // The executions that have not begun may write about as many rows each.
      heavyWork.depositRows(event, (countRows(executions.slice(0, begun)) / begun) * executions.length)
      tookMs += turnMs
      if (tookMs < leastRestMs) return nextTurn()
      const restMs = tookMs
      tookMs = 0
      return heavyWork.takeTurn(event, restMs)
    }
    const giveUp = (error: unknown): never => {
      heavyWork.charge(event, executions[0]?.evaluation.spent ?? 0, 0)
      for (const call of calls) executor.abandon(call)
      for (const { span } of executions) span?.end(true)
      throw error
    }
    try {
      const others = beginInTurns(
        executions,
        (execution) => {
          begun++
          calls.push(...executor.begin([execution]))
        },
        giveWay,
      )
      return others?.then(() => calls, giveUp) ?? calls
    } catch (error) {
      return giveUp(error)
    }
  }

  async #findSet(event: LoadedEvent): Promise<RuleSet> {
    const { addressee } = event
    // What a rule emitted and left waiting ends with it: a flood stops when its rule is switched off.
    if (event.rootId !== null && (await this.#parts.causation.isCauseOff(event)))
      return { ...noRules, rulesVersion: event.rulesVersion }
    if (addressee === null) return this.#findRules(event)
    const { rule, rulesVersion } = await findAddressee(this.#parts.database, event, addressee)
    return makeSetOfOne(rule, rulesVersion)
  }
}

/** The events of a job belong to several workspaces: none waits for the backlog of another. */
function findShortest(postponements: Postponed[]): Postponed {
  return new Postponed(Math.min(...postponements.map(({ delayMs }) => delayMs)))
}
