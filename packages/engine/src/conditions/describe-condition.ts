import type { Hours } from '../hours/hours.js'
import { findOperator } from '../operators/index.js'
import { listPhrases } from '../operators/phrases.js'
import type { Condition, ListCondition } from '../rule.js'
import { cutText } from '../texts/cut-text.js'
import { isListCondition, isTimeCondition, itemPartsOf, readList } from './condition-parts.js'
import { sayComparison } from './say-comparison.js'

const maxLength = 120

/** Writes a condition as a person says it. */
export function describeCondition(condition: Condition): string {
  return shortenDescription(write(condition))
}

export function shortenDescription(text: string): string {
  return text.length > maxLength ? cutText(text, maxLength - 1, '…') : text
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
  return sayComparison(subject, findOperator(operator)?.name ?? operator, value)
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
