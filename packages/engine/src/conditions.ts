import type { Evaluation } from './evaluation.js'
import { explainValue } from './explain-value.js'
import { findOperator } from './operators/index.js'
import type { ConditionTrace } from './outcome.js'
import { compilePath, readPath } from './path.js'
import type { Action, Clause, Condition, RuleDefinition } from './rule.js'

/** A compiled condition: `holds` is the fast check, `explain` gives the same verdict with its reasons. Neither throws. */
export interface CompiledCondition {
  holds(data: unknown, evaluation: Evaluation): boolean
  /**
   * Where the work is used up, a clause has a warning, and it and its groups are false.
   *
   * @param evaluation of what `holds` evaluates, too
   * @param spare of the clauses that `holds` does not reach
   */
  explain(data: unknown, evaluation: Evaluation, spare: Evaluation): ConditionTrace
  /** What has to be so for the condition to hold, each of them. There may be more to it. */
  readonly equalities: readonly Equality[]
}

/** The value at a path equals one of a few values. */
export interface Equality {
  readonly field: string
  readonly wanted: readonly unknown[]
}

/** Compiles a clause or a group of a definition without faults. Throws on an invalid operator, path or pattern. */
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
      actions: actions.map(normaliseAction),
    }),
  }
}

function normaliseAction(action: Action): Action {
  const changed = action.when ? { ...action, when: normaliseCondition(action.when) } : action
  if (changed.type !== 'EMIT_EVENT' || !changed.config.where) return changed
  const where = normaliseConditions(changed.config.where as Condition[])
  return { ...changed, config: { ...changed.config, where } }
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
    holds: (data, evaluation) => combine(children, (child) => child.holds(data, evaluation)),
    explain: (data, evaluation, spare) => ({
      group,
      ...explainAll(group, children, data, evaluation, spare),
    }),
    equalities: group === 'all' ? children.flatMap((child) => child.equalities) : [],
  }
}

/**
 * Explains the conditions of a group. Those after the one that decides are evaluated by themselves: what they cost must not make a later
 * clause fail that was evaluated.
 */
export function explainAll(
  group: 'all' | 'any' | 'not',
  conditions: readonly CompiledCondition[],
  data: unknown,
  evaluation: Evaluation,
  spare: Evaluation,
): { children: ConditionTrace[]; verdict: boolean } {
  let isDecided = false
  let isEvaluated = true
  const children = conditions.map((condition) => {
    if (isDecided) return condition.explain(data, spare, spare)
    const trace = condition.explain(data, evaluation, spare)
    isEvaluated = evaluation.overrun === null
    isDecided = trace.verdict === (group !== 'all')
    return trace
  })
  // The opposite of a clause that was not evaluated is not known either.
  return { children, verdict: isEvaluated && combiners[group](children, (trace) => trace.verdict) }
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
  const holds = (data: unknown, evaluation: Evaluation) => {
    try {
      return test(readPath(path, data), evaluation)
    } catch {
      // Only data that never was JSON comes here (a getter that throws): what cannot be read is missing.
      return test(undefined, evaluation)
    }
  }
  return {
    holds,
    explain(data, evaluation) {
      const verdict = holds(data, evaluation)
      const actual = readForTrace(() => readPath(path, data))
      return {
        field: clause.field,
        operator: operator.name,
        ...(operator.value && { expected: clause.value }),
        ...(actual !== undefined && { actual: excerptOf(actual) }),
        verdict: verdict && evaluation.overrun === null,
        ...(evaluation.fault === null
          ? explainValue(
              { operator, value: clause.value, path },
              { data, actual, verdict, now: evaluation.now },
            )
          : { warning: evaluation.fault }),
      }
    },
    equalities: operator.findWanted
      ? [{ field: clause.field, wanted: operator.findWanted(clause.value) }]
      : [],
  }
}

/** How much of a value a trace shows, in characters and items: 50 clauses may name the same megabyte. */
const maxActualLength = 1_000

const excerpts = new WeakMap<object, unknown>()

/** What a trace, or an event that shows something, shows of a value. */
export function excerptOf(actual: unknown): unknown {
  if (typeof actual !== 'object' || actual === null) return clip(actual, { left: maxActualLength })
  const known = excerpts.get(actual)
  if (known !== undefined) return known
  const excerpt = clip(actual, { left: maxActualLength })
  excerpts.set(actual, excerpt)
  return excerpt
}

/** Copies the beginning of a value. Where something is left out, the copy has an ellipsis. */
function clip(value: unknown, room: { left: number }): unknown {
  if (typeof value === 'string') {
    const end = Math.max(room.left, 0)
    room.left -= value.length
    return value.length > end ? `${value.slice(0, end)}…` : value
  }
  room.left--
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      if (room.left <= 0) return [...items, '…']
      items.push(clip(item, room))
    }
    return items
  }
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value)) {
    if (room.left <= 0) {
      copy['…'] = '…'
      break
    }
    room.left -= key.length
    copy[key] = clip((value as Record<string, unknown>)[key], room)
  }
  return copy
}

function readForTrace(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}
