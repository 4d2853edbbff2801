import type { CheckedRule } from '@automation/engine'
import { prepareRules, type SimulatedEvent, simulateEvents } from '@automation/rule-tests'

const type = 'ONLY_THIS_EVENT'
const prepared = new WeakMap<CheckedRule, ReturnType<typeof prepareRules>>()

/** Whether a rule does one of its actions for an event, as an execution goes: nothing follows on a failure. */
export function does(rule: CheckedRule, action: number, data: object, at: number): boolean {
  return execute(rule, data, at)?.actions[action]?.status === 'success'
}

/** The event that a rule emits by one of its actions. */
export function emit(
  rule: CheckedRule,
  action: number,
  { data, at }: Omit<SimulatedEvent, 'type'>,
): SimulatedEvent | undefined {
  const { actions } = execute(rule, data, at) ?? { actions: [] }
  const { action: name, status, config } = actions[action] ?? {}
  if (name !== 'EMIT_EVENT' || status !== 'success') return undefined
  const { eventType, data: emitted = data } = config as { eventType: string; data?: object }
  const ends = actions
    .slice(0, action)
    .flatMap(({ until }) => (until === undefined ? [] : [Date.parse(until)]))
  return { type: eventType, data: emitted, at: ends.at(-1) ?? at }
}

/** Alone, and with a type that nothing emits: so it runs once. */
function execute(rule: CheckedRule, data: object, at: number) {
  let rules = prepared.get(rule)
  if (rules === undefined) {
    rules = prepareRules([{ ...rule, trigger: type, isActive: true }])
    prepared.set(rule, rules)
  }
  return simulateEvents(rules, [{ type, at, data }]).executions[0]
}
