import {
  type ActionResult,
  assume,
  type CompiledRule,
  collectData,
  Evaluation,
  endsWait,
  expiredDecision,
  findNextAction,
  type Given,
  isCallType,
  keepWaited,
  type Match,
  type ReadyAction,
  readDecision,
  SimulatedKeys,
  type Suppression,
  settleAction,
  showConfig,
} from '@automation/engine'
import { perform } from './perform-action.js'
import type { SimulatedEvent } from './simulated-event.js'
import { findRunning, type SimulatedRules } from './simulated-rules.js'

export type { SimulatedEvent }

/** An action as it was done, skipped or failed; a call ends as it is given. */
export interface SimulatedAction extends ActionResult {
  /** The rendered config of an action that was done. */
  readonly config?: unknown
}

/** The work of one rule for one event, or for a batch of events: `event` has what its actions read, and the end of the batch. */
export interface SimulatedExecution {
  readonly rule: number
  readonly event: SimulatedEvent
  /** How many events were emitted, each because of the one before. */
  readonly depth: number
  readonly actions: readonly SimulatedAction[]
  /** Why nothing was done: its key could not be rendered. */
  readonly fault?: string
}

/** A rule that matched an event for which another rule of its group ran. */
export interface SimulatedOutranked {
  readonly rule: number
  readonly by: number
}

/** A rule that matched an event, and whose `perKey` did not grant it. */
export interface SimulatedSuppression {
  readonly rule: number
  readonly event: SimulatedEvent
  readonly suppression: Suppression
}

export interface Simulation {
  /** Without those that others of their key replaced before they did anything. */
  readonly executions: readonly SimulatedExecution[]
  readonly outranked: readonly SimulatedOutranked[]
  readonly suppressed: readonly SimulatedSuppression[]
  /** All events in the order of their moments, those that were emitted included. */
  readonly events: readonly SimulatedEvent[]
}

/** More events than these are a loop of rules with several branches. */
const maxEvents = 10_000

/** An execution that is not finished. */
interface Running {
  readonly rule: number
  readonly compiled: CompiledRule
  event: SimulatedEvent
  readonly depth: number
  readonly results: SimulatedAction[]
  readonly evaluation: Evaluation
  fault?: string
  /** The events of its batch. */
  readonly collected: [SimulatedEvent, ...SimulatedEvent[]]
  /** The moment of its event, or at which its key was free. */
  startedAt: number
  isReplaced: boolean
  /** The last event that ended a WAIT of it, or its own: a WAIT ends by a later one. */
  after: SimulatedEvent
}

/** What happens at a moment: an event arrives, time ends a WAIT of an execution, or a batch ends. */
type Happening = { readonly at: number } & (
  | { readonly event: SimulatedEvent; readonly depth: number }
  | { readonly running: Running; readonly index: number }
  | { readonly batch: Running }
)

/**
 * What the service does with these events, by its own engine: conditions are evaluated at the moment of the event, a WAIT ends in its time or by an
 * event, an emitted event is an event of its own, and every call ends as it is given, or succeeds. `perKey` is asked in the order of the events.
 */
export function simulateEvents(
  rules: SimulatedRules,
  events: readonly SimulatedEvent[],
  given?: Given,
): Simulation {
  return new Simulator(rules, given).run(events)
}

class Simulator {
  readonly #rules: SimulatedRules
  readonly #given: Given | undefined
  readonly #queue: Happening[] = []
  readonly #seen: SimulatedEvent[] = []
  readonly #executions: Running[] = []
  readonly #outranked: SimulatedOutranked[] = []
  readonly #suppressed: SimulatedSuppression[] = []
  readonly #keys = new SimulatedKeys<Running>()
  /** Those in a WAIT, the index of that action, and the last moment at which an event ends it. */
  readonly #waiting = new Map<Running, { index: number; deadline: number }>()

  constructor(rules: SimulatedRules, given: Given | undefined) {
    this.#rules = rules
    this.#given = given
  }

  run(events: readonly SimulatedEvent[]): Simulation {
    this.#queue.push(...events.map((event) => ({ at: event.at, event, depth: 0 })))
    while (this.#queue.length > 0 && this.#seen.length < maxEvents) {
      // An event that is accepted at the end of a WAIT still ends it: it comes first.
      this.#queue.sort((one, other) => one.at - other.at || rankOf(one) - rankOf(other))
      const next = this.#queue.shift() as Happening
      if ('event' in next) this.#accept(next.event, next.depth)
      else if ('batch' in next) this.#endBatch(next.batch, next.at)
      else this.#endByTime(next.running, next.index)
    }
    const executions = this.#executions.flatMap(({ rule, event, depth, results, isReplaced, fault }) =>
      isReplaced && results.every(({ action }) => action === 'WAIT')
        ? []
        : { rule, event, depth, actions: results, ...(fault && { fault }) },
    )
    return { executions, outranked: this.#outranked, suppressed: this.#suppressed, events: this.#seen }
  }

  #accept(event: SimulatedEvent, depth: number): void {
    const position = this.#seen.push(event) - 1
    for (const [running, { index, deadline }] of [...this.#waiting])
      this.#endByEvent(running, index, deadline, event)
    const { running, losers } = findRunning(this.#rules, event)
    this.#outranked.push(...losers)
    for (const rule of running) {
      const compiled = this.#rules.compiled[rule] as CompiledRule
      const evaluation = new Evaluation(event.at)
      const own = { rule, compiled, event, depth, evaluation, startedAt: event.at, isReplaced: false }
      const execution: Running = { ...own, results: [], after: event, collected: [event] }
      if (this.#isGranted(execution, position)) this.#advance(execution)
    }
  }

  /** Whether it begins now. */
  #isGranted(execution: Running, position: number): boolean {
    const { rule, compiled, event, evaluation } = execution
    const { perKey } = compiled
    if (perKey === undefined) {
      this.#executions.push(execution)
      return true
    }
    const asking = { rule, perKey, event, position, execution }
    const { kind, suppression, replaced, batch, fault } = this.#keys.ask(asking, evaluation)
    if (fault !== undefined) execution.fault = fault
    if (batch !== undefined) {
      if (batch.execution !== execution) batch.execution.collected.push(event)
      this.#queue.push({ at: batch.endsAt, batch: batch.execution })
    }
    for (const one of replaced) {
      one.isReplaced = true
      this.#waiting.delete(one)
    }
    if (suppression) this.#suppressed.push({ rule, event, suppression })
    else this.#executions.push(execution)
    return kind === 'run' && fault === undefined
  }

  #endBatch(execution: Running, at: number): void {
    const begins = this.#keys.beginBatch(execution, at)
    if (begins === undefined) return
    const [first, ...others] = execution.collected
    const data = collectData([first.data, ...others.map((event) => event.data)])
    execution.event = { ...first, at, data }
    execution.startedAt = execution.evaluation.now = at
    execution.after = this.#seen.at(-1) ?? first
    if (begins) this.#advance(execution)
  }

  #end(execution: Running): void {
    const next = this.#keys.release(execution)
    if (next === undefined) return
    next.startedAt = Math.max(next.startedAt, momentOf(execution, execution.results.length))
    this.#advance(next)
  }

  #advance(running: Running): void {
    const { compiled, event, depth, results, evaluation, startedAt } = running
    evaluation.beginRule()
    for (;;) {
      const action = findNextAction(compiled, event.data, startedAt, results, evaluation)
      if (action === undefined) {
        this.#end(running)
        return
      }
      if (action.type === 'WAIT') {
        this.#wait(running, action)
        return
      }
      const emitted: SimulatedEvent[] = []
      results[action.of.index] = {
        ...perform(action, event, depth, emitted),
        ...(isCallType(action.type) && assume(action.of, this.#given)),
        config: showConfig(action),
      }
      this.#queue.push(...emitted.map((one) => ({ at: one.at, event: one, depth: depth + 1 })))
    }
  }

  #wait(running: Running, action: ReadyAction): void {
    const { index, waitFor } = action.of
    const until = action.end ?? action.at
    running.results[index] = {
      ...settleAction(action, { status: 'success' }),
      until: new Date(until).toISOString(),
      config: showConfig(action),
    }
    this.#queue.push({ at: until, running, index })
    const { deadline = until } = action
    this.#waiting.set(running, { index, deadline })
    if (waitFor === undefined) return
    // Those of other WAITs before this one. A decision may come at any time after the event.
    const after = waitFor.isDecision ? running.event : running.after
    const since = this.#seen.slice(this.#seen.indexOf(after) + 1)
    for (const event of since) if (this.#endByEvent(running, index, deadline, event)) return
  }

  #endByEvent(running: Running, index: number, deadline: number, event: SimulatedEvent): boolean {
    const { compiled, results } = running
    const { waitFor } = compiled.actions[index] as CompiledRule['actions'][number]
    if (waitFor === undefined) return false
    const result = results[index] as SimulatedAction
    if (waitFor.eventType !== event.type || event.at > deadline) return false
    const at = Math.max(event.at, momentOf(running, index))
    const ended = { ...result, until: new Date(at).toISOString() }
    if (waitFor.isDecision) {
      const { options } = (result.config as { decision: { options: string[] } }).decision
      const decision = readDecision(event.data)
      if (!options.includes(decision.choice)) return false
      this.#waiting.delete(running)
      results[index] = { ...ended, ended: 'decision', decision }
      this.#advance(running)
      return true
    }
    const { match } = (result.config as { for: { match: Match } }).for
    if (!endsWait(waitFor, match, event.data, new Evaluation(event.at))) return false
    const { waited, warnings } = keepWaited(event.data, compiled.waitedFields)
    const told = [...(result.warnings ?? []), ...warnings]
    this.#waiting.delete(running)
    running.after = event
    results[index] = { ...ended, ended: 'event', waited }
    if (told.length > 0) results[index].warnings = told
    this.#advance(running)
    return true
  }

  #endByTime(running: Running, index: number): void {
    if (this.#waiting.get(running)?.index !== index) return
    this.#waiting.delete(running)
    const { waitFor } = running.compiled.actions[index] as CompiledRule['actions'][number]
    if (waitFor)
      running.results[index] = {
        ...(running.results[index] as SimulatedAction),
        ended: 'time',
        ...(waitFor.isDecision && { decision: expiredDecision }),
      }
    this.#advance(running)
  }
}

function rankOf(next: Happening): number {
  return 'event' in next ? 0 : 1
}

/** When an action was reached: the end of the WAIT before it. */
function momentOf({ startedAt, results }: Running, index: number): number {
  const last = results
    .slice(0, index)
    .findLast(({ action, until }) => action === 'WAIT' && until !== undefined)
  return last?.until === undefined ? startedAt : Date.parse(last.until)
}
