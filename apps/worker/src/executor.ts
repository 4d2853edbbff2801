import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import type { Effect } from '@automation/engine'
import type { EventQueue } from '@automation/inbox'
import type { Logger } from 'pino'
import { advance } from './advance.js'
import { openAttempt, settleAttempt, settleInterrupted } from './attempts.js'
import type { OutsideAction, Perform } from './effects/effect.js'
import { destinationOf, type Entry, type Gate } from './effects/gate.js'
import type { Leases } from './leases.js'
import type { Ledger } from './ledger.js'
import type { Step } from './record-steps.js'
import { type Run, suspendRun } from './run.js'
import { endCallSpan, endRunSpan, traceCall } from './trace-runs.js'
import { untilPostgresIsBack } from './until-postgres-is-back.js'
import type { WorkerMetrics } from './worker-metrics.js'

/** A run that this worker holds. */
export interface ActiveRun extends Step {
  /** The call that is next; undefined when the run is finished or suspended. */
  action: OutsideAction | undefined
  /** Its slot of the gate; undefined where it has none. */
  entry: Entry | undefined
}

interface Parts {
  queue: EventQueue
  ledger: Ledger
  leases: Leases
  gate: Gate
  perform: Perform
  metrics: WorkerMetrics
  log: Logger
}

/** A pause up to this long has its job on the belt from the start; the sweeper adds those of longer ones when they are due. */
const soonMs = 60_000
/** When a run comes back for which there was no room: something between (ms). */
const putOffMs = [5_000, 15_000] as const

/**
 * Makes the outside calls of runs. Each is recorded as begun before it is made, and its result after it:
 *
 *   place in the gate ─▶ intent committed ─▶ call ─▶ result committed ─▶ next action … ─▶ finished or suspended
 *
 * A worker that dies on the way stops renewing the lease; the sweeper gives the run to another, which goes on from what
 * was committed last. The jobs of the belt do not wait for it: a slow target holds back nobody but its own callers.
 */
export function createExecutor({ queue, ledger, leases, gate, perform, metrics, log }: Parts) {
  const underWay = new Set<Promise<void>>()
  const closing = new AbortController()
  // Every run in line listens for it, and a line is long.
  setMaxListeners(0, closing.signal)
  const isVerbose = log.isLevelEnabled('debug')

  return {
    /**
     * Advances runs up to their first calls. Returns those that have one: it is ready to be committed with its run, and
     * then to be made by `carryOn`, or to be given up by `abandon`.
     */
    begin(runs: Run[]): ActiveRun[] {
      const active = runs.map((run) => activate(run, newId()))
      try {
        return active.filter(prepareCall)
      } catch (error) {
        active.forEach(abandon)
        throw error
      }
    },
    /** Makes the call of a run that was committed, and all that follow. Resolves when the run is finished or suspended. */
    carryOn: (active: ActiveRun): Promise<void> => track(active, makeCalls),
    /** Goes on with a run that was taken up again. */
    resume: ({ run, lease }: Step): Promise<void> => track(activate(run, lease), resume),
    abandon,
    announce,
    isIdle: (): boolean => underWay.size === 0,
    /** From now on no call is begun: what is left of the runs is for other workers. */
    stop: (): void => closing.abort(),
    /** Waits for the calls under way, and not for longer. */
    async close(withinMs: number): Promise<void> {
      const enough = new AbortController()
      await Promise.race([
        Promise.allSettled(underWay),
        setTimeout(Math.max(withinMs, 0), undefined, { signal: enough.signal }).catch(() => {}),
      ])
      enough.abort()
    },
  }

  function track(active: ActiveRun, work: (active: ActiveRun) => Promise<void>): Promise<void> {
    const tracked = holdFor(active, work)
      // The lease runs out, and another worker tries.
      .catch((error) => log.error({ err: error, ...idsOf(active.run) }, 'a run could not go on'))
      .finally(() => underWay.delete(tracked))
    underWay.add(tracked)
    return tracked
  }

  /**
   * However the work ends, the lease is renewed no more and the slot is free: a slot is left here and after a call, and
   * nowhere else. One that nobody leaves is gone until this worker restarts.
   */
  async function holdFor(active: ActiveRun, work: (active: ActiveRun) => Promise<void>): Promise<void> {
    leases.hold(active.run, active.lease)
    try {
      await work(active)
    } finally {
      leases.release(active.lease)
      abandon(active)
    }
  }

  async function resume(active: ActiveRun): Promise<void> {
    const { run } = active
    settleInterrupted(run)
    if (run.finishedAt === null) prepareCall(active)
    if (await record(active)) await makeCalls(active)
  }

  async function makeCalls(active: ActiveRun): Promise<void> {
    let isOurs = true
    while (isOurs && active.action) isOurs = await makeCall(active, active.action)
  }

  /** Makes one call, and prepares the next. False where the run is not this worker's any more. */
  async function makeCall(active: ActiveRun, action: OutsideAction): Promise<boolean> {
    const { run } = active
    if (active.entry === undefined) {
      active.entry = await waitInLine(run, action)
      run.awaitsSlot = false
      if (active.entry === undefined || active.entry.kind === 'full') {
        suspendRun(run, 'running', active.entry === undefined ? new Date() : someTimeLater())
        await record(active)
        return false
      }
      openAttempt(run, action)
      if (!(await record(active))) return false
    }
    settleAttempt(run, action, await attempt(run, action, active.entry))
    active.action = undefined
    active.entry = undefined
    if (run.status === 'running') prepareCall(active)
    return record(active)
  }

  /** Undefined where this worker is about to close. */
  async function waitInLine({ event }: Run, action: OutsideAction): Promise<Entry | undefined> {
    return gate.enter(event.workspaceId, destinationOf(action), closing.signal).catch(() => undefined)
  }

  async function attempt(run: Run, action: OutsideAction, entry: Entry): Promise<Effect> {
    if (entry.kind !== 'entered') {
      const error = `${destinationOf(action)} has not answered lately, so it was not called`
      return { status: 'failed', error, retryAfterMs: entry.kind === 'broken' ? entry.retryAfterMs : 0 }
    }
    let effect: Effect | undefined
    const span = traceCall(run, action)
    const begunAt = performance.now()
    try {
      const { executionId, rule, event, startedAt } = run
      const context = { executionId, rule, event, startedAt, traceparent: span?.traceparent }
      // Only what is looked up before the call asks Postgres: where that fails, nothing was called yet.
      effect = await untilPostgresIsBack(() => perform(action, context))
      metrics.noteAttempt(action, resultOf(effect), begunAt)
      if (isVerbose) tellCall(run, action, effect)
      return effect
    } finally {
      endCallSpan(span, effect)
      leave(entry, effect && wasAnswered(action, effect))
    }
  }

  function tellCall(run: Run, { of, type }: OutsideAction, effect: Effect): void {
    const { statusCode } = (effect.output ?? {}) as { statusCode?: number }
    log.debug(
      { ...idsOf(run), action: type, index: of.index, result: resultOf(effect), statusCode },
      'called',
    )
  }

  /** Advances a run up to its next call, and enters the gate where a slot is free. False where there is no call. */
  function prepareCall(active: ActiveRun): boolean {
    const { run, lease } = active
    const action = advance(run)
    if (action === undefined) return false
    if (closing.signal.aborted) {
      suspendRun(run, 'running', new Date())
      return false
    }
    run.lease = lease
    active.action = action
    active.entry = gate.tryEnter(run.event.workspaceId, destinationOf(action))
    // Only who has a slot may call, so only then is there an intent to commit.
    if (active.entry) openAttempt(run, action)
    else run.awaitsSlot = true
    return true
  }

  /** False where the run is another worker's by now. */
  async function record(step: Step): Promise<boolean> {
    const isWritten = await untilPostgresIsBack(() => ledger.recordStep(step))
    if (isWritten) announce(step.run)
    else {
      metrics.leasesLost.inc()
      leases.noteLost(step)
      step.run.span?.end(true)
    }
    return isWritten
  }

  /** Whatever was committed with a run is put on the belt, best effort. */
  function announce(run: Run): void {
    for (const event of run.emitted) {
      if (run.span) event.traceparent = run.span.traceparent
      queue.addAlone(event).catch(() => {})
    }
    run.emitted = []
    run.tasks = []
    const { executionId, event, dueAt, status } = run
    if (dueAt !== null && dueAt.getTime() - Date.now() <= soonMs) {
      const { id: eventId, workspaceId } = event
      const traceparent = run.firstPlace ?? run.span?.traceparent
      queue.addDue({ executionId, eventId, workspaceId, dueAt, traceparent }).catch(() => {})
    }
    if (run.lease === null) endRunSpan(run)
    if (isVerbose) log.debug({ ...idsOf(run), status }, 'execution recorded')
  }
}

function activate(run: Run, lease: string): ActiveRun {
  return { run, lease, action: undefined, entry: undefined }
}

function abandon({ run, entry }: ActiveRun): void {
  leave(entry)
  run.span?.end(true)
}

/** For each line that tells of a run. */
function idsOf({ executionId, event, rule }: Run) {
  return { executionId, eventId: event.id, ruleId: rule.id }
}

function resultOf(effect: Effect): 'success' | 'failed' | 'final' {
  if (effect.status === 'success') return 'success'
  return effect.isFinal ? 'final' : 'failed'
}

/** @param wasAnswered undefined where no call was made */
function leave(entry: Entry | undefined, wasAnswered?: boolean): void {
  if (entry?.kind === 'entered') entry.leave(wasAnswered)
}

/** Whether the target is there, and well enough to be called again. The mail server is ours: no rule's failure closes it for the next. */
function wasAnswered(action: OutsideAction, effect: Effect): boolean {
  if (action.type === 'SEND_EMAIL' || effect.status === 'success' || effect.isFinal) return true
  const { statusCode } = (effect.output ?? {}) as { statusCode?: number }
  return statusCode !== undefined && statusCode < 500
}

function someTimeLater(): Date {
  const [least, most] = putOffMs
  return new Date(Date.now() + least + Math.random() * (most - least))
}
