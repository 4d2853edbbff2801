import {
  type ActionResult,
  assume,
  type CompiledRule,
  compileRule,
  Evaluation,
  endsWait,
  findNextAction,
  findOutranked,
  type Given,
  type Grouped,
  hasGroups,
  isCallType,
  keepWaited,
  type Match,
  maxEmissionDepth,
  type ReadyAction,
  ruleHolds,
  settleAction,
  showConfig,
} from '@automation/engine'
import type { CheckedRule } from '../finding.js'

export interface SimulatedEvent {
  readonly type: string
  /** Epoch ms. */
  readonly at: number
  readonly data: object
  /** Of a tick: the name of its rule. */
  readonly for?: string | undefined
}

/** An action as it was done, skipped or failed; a call ends as it is given. */
export interface SimulatedAction extends ActionResult {
  /** The rendered config of an action that was done. */
  readonly config?: unknown
}

/** The work of one rule for one event. */
export interface SimulatedExecution {
  readonly rule: number
  readonly event: SimulatedEvent
  /** How many events were emitted, each because of the one before. */
  readonly depth: number
  readonly actions: readonly SimulatedAction[]
}

/** A rule that matched an event for which another rule of its group ran. */
export interface SimulatedOutranked {
  readonly rule: number
  readonly by: number
}

export interface Simulation {
  readonly executions: readonly SimulatedExecution[]
  readonly outranked: readonly SimulatedOutranked[]
  /** All events in the order of their moments, those that were emitted included. */
  readonly events: readonly SimulatedEvent[]
}

/** Rules that were compiled once for many simulations. */
export interface SimulatedRules {
  readonly rules: readonly CheckedRule[]
  readonly compiled: readonly CompiledRule[]
  readonly byTrigger: ReadonlyMap<string, readonly number[]>
  /** The places of the rules in groups; undefined where none is in one. */
  readonly places: readonly Grouped[] | undefined
}

export function prepareRules(rules: readonly CheckedRule[]): SimulatedRules {
  const byTrigger = new Map<string, number[]>()
  rules.forEach(({ trigger, isActive }, index) => {
    if (isActive === false) return
    const known = byTrigger.get(trigger)
    if (known === undefined) byTrigger.set(trigger, [index])
    else known.push(index)
  })
  const places = rules.map(({ group = null, order = null }) => ({ group, order }))
  return {
    rules,
    compiled: rules.map(compileRule),
    byTrigger,
    places: hasGroups(places) ? places : undefined,
  }
}

/** More events than these are a loop of rules with several branches. */
const maxEvents = 10_000

/** An execution that is not finished. */
interface Running {
  readonly compiled: CompiledRule
  readonly event: SimulatedEvent
  readonly depth: number
  readonly results: SimulatedAction[]
  readonly evaluation: Evaluation
  /** The last event that ended a WAIT of it, or its own: a WAIT ends by a later one. */
  after: SimulatedEvent
}

/** What happens at a moment: an event arrives, or time ends a WAIT of an execution. */
type Happening = { readonly at: number } & (
  | { readonly event: SimulatedEvent; readonly depth: number }
  | { readonly running: Running; readonly index: number }
)

/**
 * What the service does with these events, by its own engine: conditions are evaluated at the moment of the event, a WAIT ends in its time or by an
 * event, an emitted event is an event of its own, and every call ends as it is given, or succeeds.
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
  readonly #executions: SimulatedExecution[] = []
  readonly #outranked: SimulatedOutranked[] = []
  /** Those that wait for an event, and the index of that action. */
  readonly #waiting = new Map<Running, number>()

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
      else this.#endByTime(next.running, next.index)
    }
    return { executions: this.#executions, outranked: this.#outranked, events: this.#seen }
  }

  #accept(event: SimulatedEvent, depth: number): void {
    this.#seen.push(event)
    for (const [running, index] of [...this.#waiting]) this.#endByEvent(running, index, event)
    const { running, losers } = evaluate(this.#rules, event)
    this.#outranked.push(...losers)
    for (const rule of running) {
      const compiled = this.#rules.compiled[rule] as CompiledRule
      const results: SimulatedAction[] = []
      this.#executions.push({ rule, event, depth, actions: results })
      this.#advance({ compiled, event, depth, results, evaluation: new Evaluation(event.at), after: event })
    }
  }

  #advance(running: Running): void {
    const { compiled, event, depth, results, evaluation } = running
    evaluation.beginRule()
    for (;;) {
      const action = findNextAction(compiled, event.data, event.at, results, evaluation)
      if (action === undefined) return
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
    if (waitFor === undefined) {
      this.#advance(running)
      return
    }
    this.#queue.push({ at: until, running, index })
    this.#waiting.set(running, index)
    // Those of other WAITs before this one.
    const since = this.#seen.slice(this.#seen.indexOf(running.after) + 1)
    for (const event of since) if (this.#endByEvent(running, index, event)) return
  }

  #endByEvent(running: Running, index: number, event: SimulatedEvent): boolean {
    const { compiled, results } = running
    const { waitFor } = compiled.actions[index] as CompiledRule['actions'][number]
    const result = results[index] as SimulatedAction
    const { match } = (result.config as { for: { match: Match } }).for
    const isInTime = event.at <= Date.parse(result.until ?? '')
    if (waitFor?.eventType !== event.type || !isInTime) return false
    if (!endsWait(waitFor, match, event.data, new Evaluation(event.at))) return false
    const { waited, warnings } = keepWaited(event.data, compiled.waitedFields)
    const told = [...(result.warnings ?? []), ...warnings]
    this.#waiting.delete(running)
    running.after = event
    const at = Math.max(event.at, momentOf(running, index))
    results[index] = { ...result, ended: 'event', until: new Date(at).toISOString(), waited }
    if (told.length > 0) results[index].warnings = told
    this.#advance(running)
    return true
  }

  #endByTime(running: Running, index: number): void {
    if (this.#waiting.get(running) !== index) return
    this.#waiting.delete(running)
    running.results[index] = { ...(running.results[index] as SimulatedAction), ended: 'time' }
    this.#advance(running)
  }
}

function rankOf(next: Happening): number {
  return 'event' in next ? 0 : 1
}

/** When an action was reached: the end of the WAIT before it. */
function momentOf({ event, results }: Running, index: number): number {
  const last = results
    .slice(0, index)
    .findLast(({ action, until }) => action === 'WAIT' && until !== undefined)
  return last?.until === undefined ? event.at : Date.parse(last.until)
}

/** The rules that run for an event. One that needs too much work does nothing, but comes first in its group as if it had matched. */
function evaluate({ rules, compiled, byTrigger, places }: SimulatedRules, event: SimulatedEvent) {
  const { type, at, data, for: name } = event
  const evaluation = new Evaluation(at)
  const running: number[] = []
  const matched: number[] = []
  for (const index of byTrigger.get(type) ?? []) {
    if (name !== undefined && rules[index]?.name !== name) continue
    const holds = ruleHolds(compiled[index] as CompiledRule, data, evaluation)
    if (holds) running.push(index)
    if (holds || evaluation.fault !== null) matched.push(index)
  }
  if (places === undefined) return { running, losers: [] }
  const winners = findOutranked(places, matched)
  const losers = Array.from(winners, ([rule, by]) => ({ rule, by }))
  return { running: running.filter((index) => !winners.has(index)), losers }
}

function perform(
  action: ReadyAction,
  event: SimulatedEvent,
  depth: number,
  emitted: SimulatedEvent[],
): ActionResult {
  const done = settleAction(action, { status: 'success' })
  if (action.type !== 'EMIT_EVENT') return done
  if (depth >= maxEmissionDepth)
    return settleAction(action, {
      status: 'failed',
      error: `The chain of emitted events is ${maxEmissionDepth} long: check the rules for a loop`,
    })
  const { config, events, at } = action
  const all = events?.map(({ data }) => data) ?? [(config.data ?? event.data) as object]
  emitted.push(...all.map((data) => ({ type: config.eventType, at, data })))
  return done
}
