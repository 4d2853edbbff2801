import {
  type ActionResult,
  assume,
  type CompiledRule,
  compileRule,
  Evaluation,
  findNextAction,
  findOutranked,
  type Given,
  type Grouped,
  hasGroups,
  isCallType,
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

/**
 * What the service does with these events, by its own engine: conditions are evaluated at the moment of the event, a WAIT moves the time
 * on, an emitted event is an event of its own, and every call ends as it is given, or succeeds.
 */
export function simulateEvents(
  rules: SimulatedRules,
  events: readonly SimulatedEvent[],
  given?: Given,
): Simulation {
  const queue = events.map((event) => ({ event, depth: 0 }))
  const seen: SimulatedEvent[] = []
  const executions: SimulatedExecution[] = []
  const outranked: SimulatedOutranked[] = []
  while (queue.length > 0 && seen.length < maxEvents) {
    queue.sort((one, other) => one.event.at - other.event.at)
    const { event, depth } = queue.shift() as (typeof queue)[number]
    seen.push(event)
    const { running, losers } = evaluate(rules, event)
    outranked.push(...losers)
    for (const index of running) {
      const { actions, emitted } = execute(rules.compiled[index] as CompiledRule, event, depth, given)
      executions.push({ rule: index, event, depth, actions })
      queue.push(...emitted.map((one) => ({ event: one, depth: depth + 1 })))
    }
  }
  return { executions, outranked, events: seen }
}

/** The rules that run for an event. One that needs too much work does nothing, but comes first in its group as if it had matched. */
function evaluate({ compiled, byTrigger, places }: SimulatedRules, { type, at, data }: SimulatedEvent) {
  const evaluation = new Evaluation(at)
  const running: number[] = []
  const matched: number[] = []
  for (const index of byTrigger.get(type) ?? []) {
    const holds = ruleHolds(compiled[index] as CompiledRule, data, evaluation)
    if (holds) running.push(index)
    if (holds || evaluation.fault !== null) matched.push(index)
  }
  if (places === undefined) return { running, losers: [] }
  const winners = findOutranked(places, matched)
  const losers = Array.from(winners, ([rule, by]) => ({ rule, by }))
  return { running: running.filter((index) => !winners.has(index)), losers }
}

function execute(rule: CompiledRule, event: SimulatedEvent, depth: number, given: Given | undefined) {
  const results: SimulatedAction[] = []
  const emitted: SimulatedEvent[] = []
  const evaluation = new Evaluation(event.at)
  evaluation.beginRule()
  for (;;) {
    const action = findNextAction(rule, event.data, event.at, results, evaluation)
    if (action === undefined) return { actions: results, emitted }
    results[action.of.index] = {
      ...perform(action, event, depth, emitted),
      ...(isCallType(action.type) && assume(action.of, given)),
      config: showConfig(action),
    }
  }
}

function perform(
  action: ReadyAction,
  event: SimulatedEvent,
  depth: number,
  emitted: SimulatedEvent[],
): ActionResult {
  const done = settleAction(action, { status: 'success' })
  if (action.type === 'WAIT') return { ...done, until: new Date(action.end ?? action.at).toISOString() }
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
