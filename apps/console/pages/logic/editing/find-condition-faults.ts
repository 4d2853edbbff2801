import type { Condition } from '@automation/client'
import { countOperators, type Fault, findOperator, findRuleFaults } from '@automation/engine'
import { Check } from 'typebox/value'
import { formatCount } from '../count-words.js'
import { valueKindOf } from '../value-kind.js'
import {
  type Clause,
  childPath,
  childrenOf,
  childrenPath,
  type GroupKind,
  groupKindOf,
  isClause,
  isReference,
  listOf,
  type Reference,
} from './condition-kinds.js'

/** As the schema of the API has it. */
const maxCount = 1_000_000

/** A fault that would refuse the rule. */
export interface ConditionFault extends Fault {
  /** Nothing was filled in there yet: it is asked for, and not called wrong. */
  isUnfinished: boolean
}

/**
 * What the service would refuse in the conditions of a rule, found while somebody types: conditions with a fault have no result. It adds what
 * the schema of the API says to what the engine says.
 */
export function findConditionFaults(conditions: readonly Condition[]): ConditionFault[] {
  const own = conditions.flatMap((condition, index) => listFaults(condition, `conditions[${index}]`))
  const known = new Set(own.map(({ field }) => field))
  const others = findRuleFaults({ conditions, actions: [] }).filter(
    ({ field }) => field.startsWith('conditions') && !known.has(field),
  )
  return [...own, ...others.map((fault) => ({ ...fault, isUnfinished: false }))]
}

function listFaults(condition: Condition, path: string): ConditionFault[] {
  if (isClause(condition)) return listClauseFaults(condition, path)
  const kind = groupKindOf(condition)
  if (kind === undefined) return []
  const children = childrenOf(condition, kind)
  if (!Array.isArray(children)) return [wrong(path, 'Must be a list of conditions')]
  return [
    ...(kind.isList ? listListFaults(condition, kind, path) : []),
    ...children.flatMap((child, index) => listFaults(child, childPath(path, kind, index))),
  ]
}

/** Of the list itself, and of the number of its items. */
function listListFaults(condition: Condition, kind: GroupKind, path: string): ConditionFault[] {
  const faults: ConditionFault[] = []
  if (listOf(condition, kind).trim() === '')
    faults.push({ field: `${path}.${kind.keyword}`, message: 'Choose a list', isUnfinished: true })
  if (kind.keyword !== 'count')
    return childrenOf(condition, kind).length > 0
      ? faults
      : [...faults, wrong(childrenPath(path, kind), 'Must have at least one condition')]
  const { operator, value } = condition as { operator: string; value?: unknown }
  if (!countOperators.some(({ name, aliases }) => name === operator || aliases.includes(operator)))
    faults.push(wrong(`${path}.operator`, 'Must be a known comparison'))
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > maxCount)
    faults.push({
      field: `${path}.value`,
      message: 'Must be a whole number from 0 to 1,000,000',
      isUnfinished: isNothing(value),
    })
  return faults
}

function listClauseFaults({ field, operator: name, value }: Clause, path: string): ConditionFault[] {
  const faults: ConditionFault[] = []
  if (field.trim() === '')
    faults.push({ field: `${path}.field`, message: 'Choose a field', isUnfinished: true })
  const operator = findOperator(name)
  if (operator === undefined) return [...faults, wrong(`${path}.operator`, 'Must be a known comparison')]
  if (isReference(value) && operator.compareTwo !== undefined)
    return [...faults, ...listReferenceFaults(value, `${path}.value`)]
  const { value: schema } = operator
  // What has no words here is refused all the same, such as a text of more than 10,000 characters.
  const isRefused = schema !== undefined && !Check(schema, value)
  const message = faultOfValue(schema, value) ?? (isRefused ? 'Must be shorter' : undefined)
  if (message !== undefined) faults.push({ field: `${path}.value`, message, isUnfinished: isNothing(value) })
  return faults
}

/** The engine says what else is wrong with another field. */
function listReferenceFaults(reference: Reference, path: string): ConditionFault[] {
  return Object.entries(reference).flatMap(([key, other]) =>
    other.trim() === '' ? [{ field: `${path}.${key}`, message: 'Choose a field', isUnfinished: true }] : [],
  )
}

function wrong(field: string, message: string): ConditionFault {
  return { field, message, isUnfinished: false }
}

function isNothing(value: unknown): boolean {
  const isEmptyList = Array.isArray(value) && value.every((one) => one === null)
  return value === undefined || value === null || value === '' || isEmptyList
}

/** In words, since a schema alone would say "number". */
function faultOfValue(schema: object | undefined, value: unknown): string | undefined {
  const { maxItems = 1_000 } = (schema ?? {}) as { maxItems?: number }
  switch (valueKindOf(schema)) {
    case 'none':
      return value === undefined ? undefined : 'Must have no value'
    case 'number':
      return typeof value === 'number' ? undefined : 'Must be a number'
    case 'range':
      return Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'number')
        ? undefined
        : 'Must be two numbers'
    case 'list':
      if (!Array.isArray(value) || value.length === 0) return 'Must have at least one value'
      return value.length > maxItems ? `Must have at most ${formatCount(maxItems)} values` : undefined
    case 'text':
      return typeof value === 'string' && value !== '' ? undefined : 'Must be a text'
    case 'scalar':
      if (value === undefined) return 'Needs a value'
      return isScalar(value) ? undefined : 'Must be a text, a number, true, false or null'
  }
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
