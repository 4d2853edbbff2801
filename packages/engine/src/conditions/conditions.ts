import { findOperator } from '../operators/index.js'
import type { Action, Condition, RuleDefinition } from '../rule.js'
import { compileClause, type Scope } from './clause.js'
import type { CompiledCondition } from './compiled-condition.js'
import { compileGroup } from './condition-groups.js'
import { isListCondition, isTimeCondition, listLeaves, mapLeaves } from './condition-parts.js'
import { compileList, type ItemConditions, joinItemConditions } from './list-condition.js'
import { compileTime } from './time-condition.js'

/** Compiles a condition of a definition without faults. Throws on an invalid operator, path or pattern. */
export function compileCondition(condition: Condition): CompiledCondition {
  return compileIn('event', condition)
}

/** Compiles conditions of which the paths begin at an item of a list: `that` of a condition on the list. */
export function compileItemConditions(conditions: readonly Condition[]): ItemConditions {
  const clauses = conditions.flatMap((condition) => listLeaves(condition, '')).length
  return joinItemConditions(
    conditions.map((condition) => compileIn('item', condition)),
    clauses,
  )
}

function compileIn(scope: Scope, condition: Condition): CompiledCondition {
  const compile = (child: Condition) => compileIn(scope, child)
  if ('all' in condition) return compileGroup('all', condition.all.map(compile))
  if ('any' in condition) return compileGroup('any', condition.any.map(compile))
  if ('not' in condition) return compileGroup('not', [compile(condition.not)])
  if (isTimeCondition(condition)) return compileTime(condition.time)
  if (!isListCondition(condition)) return compileClause(condition, scope)
  if (scope === 'item') throw new Error('A list within a list has no conditions')
  return compileList(condition, condition.that && compileItemConditions(condition.that))
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
  if (changed.type === 'WAIT' && changed.config.for?.conditions) {
    const conditions = normaliseConditions(changed.config.for.conditions as Condition[])
    return { ...changed, config: { ...changed.config, for: { ...changed.config.for, conditions } } }
  }
  if (changed.type !== 'EMIT_EVENT' || !changed.config.where) return changed
  const where = normaliseConditions(changed.config.where as Condition[])
  return { ...changed, config: { ...changed.config, where } }
}

/** Writes operators by their full names (`gt` as `greater_than`), in groups and lists too. */
export function normaliseConditions(conditions: readonly Condition[]): Condition[] {
  return conditions.map(normaliseCondition)
}

function normaliseCondition(condition: Condition): Condition {
  return mapLeaves(condition, (leaf) =>
    'operator' in leaf ? { ...leaf, operator: findOperator(leaf.operator)?.name ?? leaf.operator } : leaf,
  )
}
