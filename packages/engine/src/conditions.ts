import { findOperator } from './operators.js'
import type { ConditionTrace } from './outcome.js'
import { compilePath, readPath } from './path.js'
import type { Clause, Condition, RuleDefinition } from './rule.js'

/** A condition made ready: `holds` is the fast way, `explain` the same verdict with its reasons. Neither throws. */
export interface CompiledCondition {
  holds(data: unknown, now: number): boolean
  explain(data: unknown, now: number): ConditionTrace
  /** What has to be so for the condition to hold, each of them. There may be more to it. */
  readonly equalities: readonly Equality[]
}

/** That what stands at a path equals one of a few values. */
export interface Equality {
  readonly field: string
  readonly wanted: readonly unknown[]
}

/** Compiles a clause or a group of a definition without faults; throws on an operator, a path or a pattern that is none. */
export function compileCondition(condition: Condition): CompiledCondition {
  if ('all' in condition) return compileGroup('all', condition.all)
  if ('any' in condition) return compileGroup('any', condition.any)
  if ('not' in condition) return compileGroup('not', [condition.not])
  return compileClause(condition)
}

/** Writes operators by their full names, in groups too and in the `when` of actions. Doing it twice changes nothing. */
export function normaliseRule<Definition extends Partial<RuleDefinition>>(
  definition: Definition,
): Definition {
  const { conditions, actions } = definition
  return {
    ...definition,
    ...(conditions && { conditions: normaliseConditions(conditions) }),
    ...(actions && {
      actions: actions.map((action) =>
        action.when ? { ...action, when: normaliseCondition(action.when) } : action,
      ),
    }),
  }
}

/** Writes operators by their full names (`gt` as `greater_than`), in groups too. */
export function normaliseConditions(conditions: readonly Condition[]): Condition[] {
  return conditions.map(normaliseCondition)
}

function normaliseCondition(condition: Condition): Condition {
  if ('all' in condition) return { all: normaliseConditions(condition.all) }
  if ('any' in condition) return { any: normaliseConditions(condition.any) }
  if ('not' in condition) return { not: normaliseCondition(condition.not) }
  return { ...condition, operator: findOperator(condition.operator)?.name ?? condition.operator }
}

function compileGroup(group: 'all' | 'any' | 'not', conditions: readonly Condition[]): CompiledCondition {
  const children = conditions.map(compileCondition)
  const combine = combiners[group]
  return {
    holds: (data, now) => combine(children, (child) => child.holds(data, now)),
    explain(data, now) {
      const traces = children.map((child) => child.explain(data, now))
      return { group, children: traces, verdict: combine(traces, (trace) => trace.verdict) }
    },
    equalities: group === 'all' ? children.flatMap((child) => child.equalities) : [],
  }
}

type Combine = <Child>(children: readonly Child[], holds: (child: Child) => boolean) => boolean

const combiners: Record<'all' | 'any' | 'not', Combine> = {
  all: (children, holds) => children.every(holds),
  any: (children, holds) => children.some(holds),
  not: (children, holds) => !children.some(holds),
}

function compileClause(clause: Clause): CompiledCondition {
  const operator = findOperator(clause.operator)
  if (!operator) throw new Error(`No operator: ${clause.operator}`)
  const path = compilePath(clause.field)
  const test = operator.compile(clause.value)
  const holds = (data: unknown, now: number) => {
    try {
      return test(readPath(path, data), now)
    } catch {
      // Only data that never was JSON comes here (a getter that throws): what cannot be read is missing.
      return test(undefined, now)
    }
  }
  return {
    holds,
    explain: (data, now) => ({
      field: clause.field,
      operator: operator.name,
      ...(operator.value && { expected: clause.value }),
      ...readForTrace(() => readPath(path, data)),
      verdict: holds(data, now),
    }),
    equalities: operator.findWanted
      ? [{ field: clause.field, wanted: operator.findWanted(clause.value) }]
      : [],
  }
}

function readForTrace(read: () => unknown): { actual?: unknown } {
  try {
    const actual = read()
    return actual === undefined ? {} : { actual }
  } catch {
    return {}
  }
}
