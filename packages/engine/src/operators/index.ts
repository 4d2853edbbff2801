import * as equality from './equality.js'
import * as numbers from './numbers.js'
import type { Operator } from './operator.js'
import * as presence from './presence.js'
import * as texts from './texts.js'
import * as times from './times.js'

/** All operators. A new one needs one entry in a file of this folder and one line here: validation, evaluation, trace, OpenAPI, vocabulary and docs/reference/rules.md follow. */
export const operators: readonly Operator[] = [
  equality.equals,
  equality.notEquals,
  numbers.greaterThan,
  numbers.greaterThanOrEqual,
  numbers.lessThan,
  numbers.lessThanOrEqual,
  numbers.between,
  numbers.notBetween,
  equality.isIn,
  equality.notIn,
  texts.contains,
  texts.notContains,
  texts.containsAny,
  texts.containsAll,
  texts.startsWith,
  texts.endsWith,
  texts.matches,
  texts.notMatches,
  presence.exists,
  presence.notExists,
  presence.isEmpty,
  presence.isNotEmpty,
  equality.isTrue,
  equality.isFalse,
  times.before,
  times.after,
  times.withinLast,
  times.withinNext,
]

const operatorsByName = new Map(
  operators.flatMap((operator) =>
    [operator.name, ...operator.aliases].map((name) => [name, operator] as const),
  ),
)

/** Finds an operator by its name or an alias. */
export function findOperator(name: string): Operator | undefined {
  return operatorsByName.get(name)
}
