import {
  type CheckedRule,
  type Condition,
  type ConditionTrace,
  describeCondition,
  explainRule,
  findOperator,
  type Leaf,
  listLeaves,
} from '@automation/engine'
import type { RuleTest } from './rule-test.js'
import { eventsOf, prepareForTests, runTest } from './run-tests.js'
import { simulateEvents } from './simulate-events.js'

/** A clause that was never true, or never false, in any test. */
export interface Uncovered {
  readonly rule: string
  readonly path: string
  readonly clause: string
  readonly never: 'true' | 'false' | 'evaluated'
}

export interface Coverage {
  /** Verdicts of clauses: each can be true and false. */
  readonly verdicts: number
  readonly seen: number
  readonly uncovered: readonly Uncovered[]
}

/** Finds the clauses of conditions and `when`s that the tests have never seen true, or false. */
export function measureCoverage(rules: readonly CheckedRule[], tests: readonly RuleTest[]): Coverage {
  const prepared = prepareForTests(rules)
  const seen = new Map<string, Set<boolean>>()
  for (const test of tests) {
    const { events, executions } = simulateEvents(prepared, eventsOf(test), test)
    for (const event of events) {
      for (const index of prepared.byTrigger.get(event.type) ?? []) {
        const trace = explainRule(
          prepared.compiled[index] as (typeof prepared.compiled)[number],
          event.data,
          event.at,
        )
        trace.conditions.forEach((condition, n) => {
          note(seen, condition, `${index} conditions[${n}]`)
        })
      }
    }
    for (const { rule, event, actions } of executions) {
      const trace = explainRule(
        prepared.compiled[rule] as (typeof prepared.compiled)[number],
        event.data,
        event.at,
        undefined,
        undefined,
        actions,
      )
      for (const { index, when } of trace.actions)
        if (when) note(seen, when, `${rule} actions[${index}].when`)
    }
  }
  const clauses = listClausesWithPaths(prepared.rules)
  const uncovered = clauses.flatMap(({ rule, path, condition }): Uncovered[] => {
    const verdicts = seen.get(`${rule} ${path}`)
    const place = { rule: prepared.rules[rule]?.name ?? '', path, clause: describeCondition(condition) }
    if (verdicts === undefined) return [{ ...place, never: 'evaluated' }]
    return verdicts.size === 2 ? [] : [{ ...place, never: verdicts.has(true) ? 'false' : 'true' }]
  })
  const missing = uncovered.reduce((sum, { never }) => sum + (never === 'evaluated' ? 2 : 1), 0)
  return { verdicts: clauses.length * 2, seen: clauses.length * 2 - missing, uncovered }
}

/** A change of one clause that no test notices. */
export interface Survivor {
  readonly rule: string
  readonly path: string
  readonly before: string
  readonly after: string
}

/** Changes each clause once, and finds the changes with which all tests still pass. @returns also how many were made */
export function mutateClauses(
  rules: readonly CheckedRule[],
  tests: readonly RuleTest[],
): { changes: number; survivors: Survivor[] } {
  const clauses = listClausesWithPaths(rules)
  // A test that fails anyway notices nothing.
  const unchanged = prepareForTests(rules)
  const passing = tests.filter((test) => runTest(unchanged, test).failures.length === 0)
  const survivors = clauses.flatMap(({ rule, path, condition }): Survivor[] => {
    const changed = structuredClone(rules) as CheckedRule[]
    const mutant = mutate(condition)
    replace(changed[rule] as CheckedRule, path, mutant)
    const prepared = prepareForTests(changed)
    if (passing.some((test) => runTest(prepared, test).failures.length > 0)) return []
    return [
      {
        rule: rules[rule]?.name ?? '',
        path,
        before: describeCondition(condition),
        after: describeCondition(mutant),
      },
    ]
  })
  return { changes: clauses.length, survivors }
}

/** A limit that includes its value, or no longer does; everything else becomes its opposite. */
function mutate(leaf: Leaf): Condition {
  const operator = 'operator' in leaf ? leaf.operator : ''
  const twin = twins[findOperator(operator)?.name ?? operator]
  return twin === undefined ? { not: leaf } : { ...leaf, operator: twin }
}

const twins: Record<string, string> = {
  greater_than: 'greater_than_or_equal',
  greater_than_or_equal: 'greater_than',
  less_than: 'less_than_or_equal',
  less_than_or_equal: 'less_than',
}

interface PlacedClause {
  rule: number
  path: string
  condition: Leaf
}

function listClausesWithPaths(rules: readonly CheckedRule[]): PlacedClause[] {
  return rules.flatMap(({ conditions, actions, isActive }, rule) => {
    if (isActive === false) return []
    const walk = (condition: Condition, path: string): PlacedClause[] =>
      listLeaves(condition, path).map(({ leaf, path: at }) => ({ rule, path: at, condition: leaf }))
    return [
      ...conditions.flatMap((condition, n) => walk(condition, `conditions[${n}]`)),
      ...actions.flatMap(({ when }, n) => (when ? walk(when, `actions[${n}].when`) : [])),
    ]
  })
}

function replace(rule: CheckedRule, path: string, condition: Condition): void {
  const keys = path.match(/[^.[\]]+/g) ?? []
  let holder = rule as unknown as Record<string, unknown>
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<string, unknown>
  holder[keys.at(-1) as string] = condition
}

function note(seen: Map<string, Set<boolean>>, trace: ConditionTrace, key: string): void {
  if ('group' in trace) {
    trace.children.forEach((child, n) => {
      note(seen, child, trace.group === 'not' ? `${key}.not` : `${key}.${trace.group}[${n}]`)
    })
    return
  }
  const verdicts = seen.get(key)
  if (verdicts === undefined) seen.set(key, new Set([trace.verdict]))
  else verdicts.add(trace.verdict)
}
