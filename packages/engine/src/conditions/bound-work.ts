import { findOperator } from '../operators/index.js'
import type { Clause, Condition } from '../rule.js'
import { isReference } from '../values/value-reference.js'
import { isClause, isListCondition, listLeaves } from './condition-parts.js'

/** The operators whose work grows with the data: no other one charges the evaluation. */
export const chargingOperators: readonly string[] = [
  'contains',
  'not_contains',
  'contains_any',
  'contains_all',
  'matches',
  'not_matches',
]

/** More than conditions can cost: units for each character of the event's JSON, and beyond them. */
export interface WorkBound {
  base: number
  perCharacter: number
}

/** To compile an instruction of a pattern again (pattern.ts). */
const stepsPerCompilation = 100
/** A list has fewer items than its JSON has characters, and its dearest operator takes as much for each (operators/texts.ts). */
const unitsPerItem = 8

/** Bounds what conditions can cost, from above, without evaluating them. */
export function boundWork(conditions: readonly Condition[]): WorkBound {
  return conditions.map(boundCondition).reduce(add, nothing)
}

function boundCondition(condition: Condition): WorkBound {
  return listLeaves(condition, '')
    .map(({ leaf }) => {
      if (isListCondition(leaf)) return unbounded
      return isClause(leaf) ? boundClause(leaf) : nothing
    })
    .reduce(add, nothing)
}

const nothing: WorkBound = { base: 0, perCharacter: 0 }
/** Items times clauses, and one text in another: no multiple of the size of the event. */
const unbounded: WorkBound = { base: Number.POSITIVE_INFINITY, perCharacter: 0 }

function boundClause({ operator: name, value }: Clause): WorkBound {
  const operator = findOperator(name)
  if (operator === undefined) return nothing
  if (isReference(value)) return /contains|in$/.test(operator.name) ? unbounded : nothing
  if (!chargingOperators.includes(operator.name)) return nothing
  const steps = operator.patternSteps?.(value)
  if (steps !== undefined) return { base: steps * stepsPerCompilation, perCharacter: steps }
  const texts = [value].flat().filter((one) => typeof one === 'string')
  // As includesText of operators/texts.ts charges it.
  const perCharacter = texts.reduce((sum, { length }) => sum + 0.1 + length / 50, unitsPerItem)
  return { base: 0, perCharacter }
}

function add(one: WorkBound, other: WorkBound): WorkBound {
  return { base: one.base + other.base, perCharacter: one.perCharacter + other.perCharacter }
}
