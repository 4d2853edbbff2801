import {
  type CheckedRule,
  type ConditionTrace,
  describeSuppression,
  explainRule,
  type ListTrace,
  normaliseRule,
  parseTimestamp,
} from '@automation/engine'
import type { Expected, ExpectedAction, RuleTest, TestEvent } from './rule-test.js'
import {
  type SimulatedAction,
  type SimulatedEvent,
  type SimulatedExecution,
  type Simulation,
  simulateEvents,
} from './simulate-events.js'
import { prepareRules, type SimulatedRules } from './simulated-rules.js'

export interface TestResult {
  readonly name: string
  /** None where the test passed. Each names the rule, and what was expected and found. */
  readonly failures: readonly string[]
}

const firstMoment = Date.parse('2026-01-01T00:00:00.000Z')

/** Runs tests of rules by simulation: nothing is sent, stored or waited for. */
export function runTests(rules: readonly CheckedRule[], tests: readonly RuleTest[]): TestResult[] {
  const prepared = prepareForTests(rules)
  return tests.map((test) => runTest(prepared, test))
}

export function prepareForTests(rules: readonly CheckedRule[]): SimulatedRules {
  return prepareRules(
    rules.map((rule) => ({
      ...rule,
      ...normaliseRule({ conditions: rule.conditions, actions: rule.actions }),
    })),
  )
}

export function runTest(rules: SimulatedRules, test: RuleTest): TestResult {
  const simulation = simulateEvents(rules, eventsOf(test), test)
  const expected = test.expectOnly ?? test.expect ?? {}
  const failures = Object.entries(expected).flatMap(([name, wanted]) =>
    compareRule(rules, simulation, name, wanted),
  )
  if (test.expectOnly !== undefined) failures.push(...findOthers(rules, simulation, expected))
  return { name: test.name, failures }
}

/** The events of a test, each at the moment of the one before where it has none. */
export function eventsOf({ event, events }: RuleTest): SimulatedEvent[] {
  let at = firstMoment
  return [...(event ? [event] : []), ...(events ?? [])].map((one: TestEvent) => {
    if (one.at !== undefined) at = parseTimestamp(one.at)
    return { type: one.type, at, data: one.data ?? {}, for: one.for }
  })
}

/** Compares what the rules of a name do, all of them together where several have it. */
function compareRule(
  rules: SimulatedRules,
  simulation: Simulation,
  name: string,
  wanted: Expected,
): string[] {
  const indexes = rules.rules.flatMap((rule, index) => (rule.name === name ? [index] : []))
  if (indexes.length === 0) return [`${JSON.stringify(name)}: there is no such rule`]
  const executions = simulation.executions.filter(({ rule }) => indexes.includes(rule))
  const say = (text: string) => `${JSON.stringify(name)}: ${text}`
  if (wanted === 'no' || wanted === false || typeof wanted === 'number') {
    const count = typeof wanted === 'number' ? wanted : 0
    if (executions.length === count) return []
    const why =
      executions.length < count ? explainMissing(rules, simulation, indexes) : explainExecutions(executions)
    return [say(`expected ${times(count)}, actual ${times(executions.length)}${why}`)]
  }
  if (executions.length === 0)
    return [
      say(
        `expected ${wanted.map(({ type }) => type).join(', ')}, actual no execution${explainMissing(rules, simulation, indexes)}`,
      ),
    ]
  return compareActions(executions, wanted).map(say)
}

/** The actions that were done, in their order. A WAIT counts where the test names one. */
function compareActions(
  executions: readonly SimulatedExecution[],
  wanted: readonly ExpectedAction[],
): string[] {
  const namesWait = wanted.some(({ type }) => type === 'WAIT')
  const all = executions.flatMap(({ actions }) => actions.map((action, index) => ({ action, index })))
  const done = all.filter(
    ({ action }) => action.status === 'success' && (namesWait || action.action !== 'WAIT'),
  )
  const types = (list: readonly string[]) => list.join(', ') || 'nothing'
  const [expected, actual] = [
    types(wanted.map(({ type }) => type)),
    types(done.map(({ action }) => action.action)),
  ]
  if (expected !== actual) {
    const faults = executions.flatMap(({ fault }) => fault ?? [])
    const others = [...faults, ...all.flatMap(({ action, index }) => writeUndone(action, index))]
    return [`expected ${expected}, actual ${actual}${others.length === 0 ? '' : ` (${others.join('; ')})`}`]
  }
  return wanted.flatMap(({ config }, n) => {
    const { action, index } = done[n] as (typeof done)[number]
    return config === undefined ? [] : compareParts(config, action.config, `actions[${index}].config`)
  })
}

function writeUndone({ action, status, error, reason }: SimulatedAction, index: number): string[] {
  return status === 'success' ? [] : [`actions[${index}] ${action} ${status}: ${error ?? reason ?? ''}`]
}

/** A part is enough: fields that the test does not name may have any value. */
function compareParts(wanted: unknown, actual: unknown, path: string): string[] {
  if (typeof wanted === 'object' && wanted !== null && typeof actual === 'object' && actual !== null) {
    if (Array.isArray(wanted) && (!Array.isArray(actual) || wanted.length !== actual.length))
      return [differ(path, wanted, actual)]
    return Object.entries(wanted).flatMap(([key, value]) => {
      const inner = Array.isArray(wanted) ? `${path}[${key}]` : `${path}.${key}`
      return compareParts(
        value,
        Object.hasOwn(actual, key) ? (actual as Record<string, unknown>)[key] : undefined,
        inner,
      )
    })
  }
  return wanted === actual ? [] : [differ(path, wanted, actual)]
}

function differ(path: string, wanted: unknown, actual: unknown): string {
  return `${path}: expected ${JSON.stringify(wanted)}, actual ${JSON.stringify(actual) ?? 'nothing'}`
}

function findOthers({ rules }: SimulatedRules, { executions }: Simulation, expected: object): string[] {
  const others = new Set(
    executions.map(({ rule }) => rules[rule]?.name ?? '').filter((name) => !Object.hasOwn(expected, name)),
  )
  return [...others].map(
    (name) =>
      `${JSON.stringify(name)}: expected no execution, since expectOnly does not name it, actual ${times(executions.filter(({ rule }) => rules[rule]?.name === name).length)}`,
  )
}

function times(count: number): string {
  return count === 0 ? 'no execution' : count === 1 ? '1 execution' : `${count} executions`
}

function explainExecutions(executions: readonly SimulatedExecution[]): string {
  const moments = executions
    .slice(0, 3)
    .map(({ event }) => `${event.type} at ${new Date(event.at).toISOString()}`)
  return `: all of its conditions held for ${moments.join(', ')}`
}

/** Says why rules did not run. */
function explainMissing(rules: SimulatedRules, simulation: Simulation, indexes: readonly number[]): string {
  const missing = indexes.filter((index) => simulation.executions.every(({ rule }) => rule !== index))
  const reasons = (missing.length > 0 ? missing : indexes).map((index) =>
    explainRuleMissing(rules, simulation, index),
  )
  const known = [...new Set(reasons.filter((reason) => reason !== ''))]
  return known.length === 0 ? '' : `: ${known.join('; another rule of the name: ')}`
}

/** Names the clauses that failed, for the events that the rule considered. */
function explainRuleMissing(
  { rules, compiled, byTrigger }: SimulatedRules,
  { events, outranked, suppressed }: Simulation,
  index: number,
): string {
  const rule = rules[index] as CheckedRule
  if (!byTrigger.get(rule.trigger)?.includes(index)) return 'it is not active'
  const outranking = outranked.find((one) => one.rule === index)
  if (outranking !== undefined)
    return `it matched, but ${JSON.stringify(rules[outranking.by]?.name)} came first in the group ${rule.group}`
  const suppression = suppressed.findLast((one) => one.rule === index)?.suppression
  if (suppression !== undefined)
    return `it matched, but perKey suppressed it: ${describeSuppression(suppression)}`
  const considered = events.filter(({ type }) => type === rule.trigger)
  if (considered.length === 0) return `there was no ${rule.trigger} event`
  const [event] = considered as [SimulatedEvent]
  const trace = explainRule(compiled[index] as SimulatedRules['compiled'][number], event.data, event.at)
  return trace.conditions
    .flatMap((condition, n) => listFailing(condition, `conditions[${n}]`, true))
    .join('; ')
}

/** The clauses that would have to turn. Below a `not` those that held. */
function listFailing(trace: ConditionTrace, path: string, wanted: boolean): string[] {
  if (trace.verdict === wanted) return []
  if ('group' in trace) {
    return trace.children.flatMap((child, n) => {
      const isNot = trace.group === 'not'
      return listFailing(
        child,
        isNot ? `${path}.not` : `${path}.${trace.group}[${n}]`,
        isNot ? !wanted : wanted,
      )
    })
  }
  if ('list' in trace) return [`${path}: expected ${wanted ? '' : 'not '}${describeList(trace)}`]
  const expected = 'expected' in trace ? ` ${JSON.stringify(trace.expected)}` : ''
  const actual = 'actual' in trace ? JSON.stringify(trace.actual) : 'missing'
  const note = trace.note === undefined ? '' : ` (${trace.note})`
  return [
    `${path}: expected ${wanted ? '' : 'not '}${trace.field} ${trace.operator}${expected}, actual ${actual}${note}`,
  ]
}

/** The result of a condition on a list, with the item that came nearest. */
function describeList(trace: ListTrace): string {
  const { quantifier, list, operator, expected, items, held, item, conditions = [], verdict, note } = trace
  const wanted = operator === undefined ? '' : ` ${operator} ${JSON.stringify(expected)}`
  const found = items === undefined ? 'there is no list' : `${held ?? 'some'} of ${items} items fulfil it`
  const nearest = conditions.flatMap((one, n) => listFailing(one, `${list}[${item}] that[${n}]`, !verdict))
  return [`${quantifier} ${list}${wanted}`, found, ...(note === undefined ? [] : [note]), ...nearest].join(
    ', ',
  )
}
