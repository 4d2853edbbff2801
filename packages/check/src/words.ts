import {
  type Condition,
  findOperator,
  type Hours,
  isListCondition,
  isReference,
  isTimeCondition,
  itemPartsOf,
  type ListCondition,
  readList,
  readReference,
} from '@automation/engine'
import { listPhrases, phrases } from './phrases.js'

const maxLength = 120

/** Writes a condition as a person says it. */
export function describe(condition: Condition): string {
  return shorten(write(condition))
}

export function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}

/** Writes `a`, `a and b`, or `a, b and c`. */
export function join(items: readonly string[], word = 'and'): string {
  const last = items.at(-1) ?? ''
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} ${word} ${last}`
}

function write(condition: Condition): string {
  if ('not' in condition) return `not (${write(condition.not)})`
  if ('all' in condition) return condition.all.map(writeInner).join(' and ')
  if ('any' in condition) return condition.any.map(writeInner).join(' or ')
  if (isListCondition(condition)) return writeList(condition)
  if (isTimeCondition(condition)) return writeHours(condition.time)
  return writeComparison(condition.field, condition.operator, condition.value)
}

function writeComparison(subject: string, operator: string, value: unknown): string {
  const name = findOperator(operator)?.name ?? operator
  const phrase = `${subject} ${phrases[name] ?? name}`
  return value === undefined ? phrase : `${phrase} ${writeValue(name, value)}`
}

function writeList(condition: ListCondition): string {
  const { quantifier, path } = readList(condition)
  const items = itemPartsOf(condition).map((part) => writeInner(part.condition))
  const all = `${listPhrases[quantifier]} ${path}${items.length === 0 ? '' : ` with ${items.join(' and ')}`}`
  return 'operator' in condition ? writeComparison(all, condition.operator, condition.value) : all
}

function writeHours({ days, from, to, timezone }: Hours): string {
  return `it is ${days} ${from} to ${to} in ${timezone}`
}

function writeInner(condition: Condition): string {
  return 'all' in condition || 'any' in condition ? `(${write(condition)})` : write(condition)
}

function writeValue(operator: string, value: unknown): string {
  if (isReference(value)) return readReference(value).text
  if (Array.isArray(value) && operator.endsWith('between')) return value.join(' and ')
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(item)).join(', ')
  return operator.startsWith('within') ? String(value) : JSON.stringify(value)
}
