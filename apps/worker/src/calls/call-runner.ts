import { type FairQueue, ownerOf } from '@automation/admission'
import { postgresNow } from '@automation/database'
import type { Effect } from '@automation/engine'
import type { Logger } from 'pino'
import { destinationOf, mailServer, type OutsideAction, type Perform } from '../effects/effect.js'
import { advance } from '../executions/advance.js'
import { countRows, heavyRows, msPerUnit } from '../executions/cost.js'
import { type Execution, idsOf, suspend } from '../executions/execution.js'
import type { Recorder } from '../executions/recorder.js'
import { endCallSpan, traceCall } from '../executions/trace-executions.js'
import { untilPostgresIsBack } from '../executions/until-postgres-is-back.js'
import type { WorkerMetrics } from '../worker-metrics.js'
import { openAttempt, settleAttempt, settleInterrupted } from './attempts.js'
import type { Gate, GateEntry } from './gate.js'
import { type HeldExecution, noteSettled } from './held-execution.js'
import type { Leases } from './leases.js'
import type { Suspensions } from './suspensions.js'

/** One that is put off for longer (ms) waits, and is cancelled where its rule is switched off meanwhile. */
const soonMs = 15_000

export interface CallParts {
  recorder: Pick<Recorder, 'recordStep'>
  leases: Pick<Leases, 'hold' | 'release' | 'noteLost'>
  suspensions: Pick<Suspensions, 'has' | 'during'>
  gate: Gate
  /** What follows a call is work of the event loop. */
  events: FairQueue
  perform: Perform
  metrics: WorkerMetrics
  log: Logger
  /** Aborted when no further call may begin. */
  closing: AbortSignal
}

/**
 * Makes the calls of executions. The life of a call:
 *
 *   prepare ─▶ admit ─▶ recordIntent ─▶ perform ─▶ recordResult ─▶ prepare …
 *                │           │                          └▶ finished or suspended
 *                │           └▶ the lease is lost: another worker continues
 *                └▶ the gate is full, this worker closes, or the workspace is suspended: released
 *
 * Only an execution with a slot of the gate records an intent. Where `prepare` finds a free slot at once, the intent is committed
 * together with what was recorded before it, which saves a commit.
 */
export class CallRunner {
  readonly #parts: CallParts

  constructor(parts: CallParts) {
    this.#parts = parts
  }

  /** Enters the gate for the next call where a slot is free. False where there is no call, or the execution was suspended instead. */
  prepare(held: HeldExecution): boolean {
    const { gate, closing, suspensions } = this.#parts
    const { record, event } = held.execution
    if (held.action === undefined) return false
    if (closing.aborted || suspensions.has(event.workspaceId)) {
      held.action = undefined
      suspend(record, 'running', new Date(postgresNow()))
      return false
    }
    record.lease = held.lease
    // A heavy commit may wait for others: meanwhile it holds no slot.
    const isHeavy = countRows([held.execution]) > heavyRows
    held.entry = isHeavy ? undefined : gate.tryEnter(event, destinationOf(held.action), held.action.size)
    if (held.entry && this.#putOff(record, held.action, held.entry)) {
      held.action = undefined
      held.entry = undefined
      return false
    }
    if (held.entry) openAttempt(record, held.action)
    else record.awaitsSlot = true
    return true
  }

  /** Makes the prepared call and all that follow, until the execution is finished, suspended or another worker's. */
  async run(held: HeldExecution): Promise<void> {
    let isHeld = true
    while (isHeld && held.action) isHeld = await this.#makeCall(held, held.action)
  }

  /**
   * Settles the call that was under way when the last worker ended, and continues.
   *
   * @param onPlaced is called when the execution has a slot, waits for one or is suspended
   */
  async resume(held: HeldExecution, onPlaced: () => void): Promise<void> {
    settleInterrupted(held.execution)
    noteSettled(held)
    if (held.execution.record.finishedAt === null) this.#advance(held)
    const isRecorded = await this.#record(held)
    const calls = isRecorded ? this.run(held) : undefined
    onPlaced()
    await calls
  }

  /** @returns false where this worker does not hold the execution any more */
  async #makeCall(held: HeldExecution, action: OutsideAction): Promise<boolean> {
    const entry = held.entry ?? (await this.#admit(held, action))
    if (entry === undefined) return false
    const effect = await this.#perform(held.execution, action, entry)
    return this.#recordResult(held, action, effect)
  }

  /** Waits for a slot and records the intent. Undefined where the execution was released, or its lease is lost. */
  async #admit(held: HeldExecution, action: OutsideAction): Promise<GateEntry | undefined> {
    const { gate, closing, suspensions } = this.#parts
    const { record, event } = held.execution
    const entry = await gate
      .enter(event, destinationOf(action), action.size, closing)
      .catch(() => ({ kind: 'closing' as const }))
    record.awaitsSlot = false
    const isSuspended = suspensions.has(event.workspaceId)
    if (entry.kind === 'closing' || isSuspended) {
      if (entry.kind === 'entered') entry.leave(undefined)
      suspend(record, 'running', new Date(postgresNow()))
      await this.#record(held)
      return undefined
    }
    if (this.#putOff(record, action, entry)) {
      await this.#record(held)
      return undefined
    }
    held.entry = entry
    noteSettled(held)
    openAttempt(record, action)
    return (await this.#record(held)) ? entry : undefined
  }

  /**
   * Suspends an execution where the gate is full, or our own mail server rests: that is no attempt of the rule, and must not fail it.
   *
   * @returns whether it was suspended
   */
  #putOff(record: Execution['record'], action: OutsideAction, entry: GateEntry): boolean {
    if (entry.kind === 'entered') return false
    if (entry.kind === 'broken' && destinationOf(action) !== mailServer) return false
    const status = entry.retryAfterMs > soonMs ? 'waiting' : 'running'
    suspend(record, status, new Date(postgresNow() + entry.retryAfterMs * (1 + Math.random() / 10)))
    return true
  }

  async #perform(execution: Execution, action: OutsideAction, entry: GateEntry): Promise<Effect> {
    if (entry.kind !== 'entered') {
      const error = `${destinationOf(action)} was not called: the last calls to it failed (no response, or a 5xx)`
      return { status: 'failed', error, retryAfterMs: entry.kind === 'broken' ? entry.retryAfterMs : 0 }
    }
    const { perform, metrics } = this.#parts
    const span = traceCall(execution, action)
    const startedAt = performance.now()
    let effect: Effect | undefined
    try {
      const { record, rule, event, evaluation } = execution
      const context = { executionId: record.id, rule, event, startedAt: record.startedAt, evaluation }
      // Postgres is read before the call alone: where that fails, nothing was called yet.
      effect = await untilPostgresIsBack(() =>
        perform(action, { ...context, traceparent: span?.traceparent }),
      )
      metrics.noteAttempt(action, resultOf(effect), startedAt)
      this.#logCall(execution, action, effect)
      return effect
    } finally {
      endCallSpan(span, effect)
      entry.leave(effect && wasAnswered(action, effect))
    }
  }

  /** Records the result, together with the intent of the next call if a slot is free. */
  async #recordResult(held: HeldExecution, action: OutsideAction, effect: Effect): Promise<boolean> {
    const { record, event, evaluation } = held.execution
    settleAttempt(record, action, effect)
    noteSettled(held)
    held.action = undefined
    held.entry = undefined
    if (record.status !== 'running') return this.#record(held)
    // What follows may have conditions, and texts to write.
    const entry = await this.#parts.events.enter(ownerOf(event), { continues: true })
    const before = evaluation.spent
    try {
      this.#advance(held)
      return await this.#record(held)
    } finally {
      entry.leave((evaluation.spent - before) * msPerUnit)
    }
  }

  #advance(held: HeldExecution): void {
    held.action = advance(held.execution)
    this.prepare(held)
  }

  /** @returns false where this worker does not hold the execution any more */
  async #record(held: HeldExecution): Promise<boolean> {
    const { recorder, metrics, leases, gate } = this.#parts
    const { execution, lease, settled } = held
    const release = gate.hold(execution.event, execution.effectBytes)
    const isRecorded = await untilPostgresIsBack((isRepeated) =>
      recorder.recordStep({ execution, lease, settled, isRepeated }),
    ).finally(release)
    if (!isRecorded) {
      metrics.leasesLost.inc()
      leases.noteLost(held)
      held.execution.span?.end(true)
    }
    // One whose step was refused for its data has failed: its next call is not made.
    return isRecorded && held.execution.record.lease !== null
  }

  #logCall(execution: Execution, { of, type }: OutsideAction, effect: Effect): void {
    const { log } = this.#parts
    if (!log.isLevelEnabled('debug')) return
    const { statusCode } = (effect.output ?? {}) as { statusCode?: number }
    log.debug(
      { ...idsOf(execution), action: type, index: of.index, result: resultOf(effect), statusCode },
      'outbound call finished',
    )
  }
}

function resultOf(effect: Effect): 'success' | 'failed' | 'final' {
  if (effect.status === 'success') return 'success'
  return effect.isFinal ? 'final' : 'failed'
}

/**
 * Whether the destination answered, and well enough to be called again; undefined where it was not called. The mail server is ours: no rule's
 * failure stops the calls of another.
 */
function wasAnswered(action: OutsideAction, effect: Effect): boolean | undefined {
  if (effect.status === 'failed' && effect.isUncalled) return undefined
  if (effect.status === 'failed' && effect.isUnanswered) return false
  if (action.type === 'SEND_EMAIL' || effect.status === 'success' || effect.isFinal) return true
  const { statusCode } = (effect.output ?? {}) as { statusCode?: number }
  return statusCode !== undefined && statusCode < 500
}
