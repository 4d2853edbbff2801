import { type Clause, type Condition, findOperator, findSimilar, Judging, toNumber } from '@automation/engine'
import { pathKey } from './atoms.js'
import type { CheckedRule, Report } from './finding.js'
import type { ObservedField, ObservedFields, ObservedKind } from './observed.js'
import { listActionPlaceholders } from './placeholders.js'
import { join } from './words.js'

/** With fewer events nothing is said: what is not there may still come. */
const minEvents = 20
/** So many values are listed, so that with more of them others may have been seen. */
const maxListed = 10

const kindNames: Record<string, ObservedKind> = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  array: 'list',
  object: 'object',
}

/** Compares a rule with the events that were seen. Says what is unusual, with counts: the next event may be different. */
export function checkObserved(
  rule: CheckedRule,
  index: number,
  observed: ObservedFields,
  report: Report,
): void {
  if (observed.events < minEvents) return
  const fields = new Map(observed.fields.map((field) => [pathKey(field.path), field]))
  const seen: Seen = { events: observed.events, fields, trigger: rule.trigger, index, report }
  rule.conditions.forEach((condition, n) => {
    checkCondition(condition, `conditions[${n}]`, seen)
  })
  rule.actions.forEach((action, n) => {
    if (action.when) checkCondition(action.when, `actions[${n}].when`, seen)
    for (const { path, place } of listActionPlaceholders(action, `actions[${n}]`)) {
      // The variables of a mail are read in its template, and the data of the event everywhere else.
      if (!isSeen(pathKey(path), fields))
        report.find('unseen_placeholder', index, place, `{{${path}}} ${writeNever(path, seen)}`)
    }
  })
}

interface Seen {
  events: number
  fields: ReadonlyMap<string, ObservedField>
  trigger: string
  index: number
  report: Report
}

function checkCondition(condition: Condition, path: string, seen: Seen): void {
  if ('not' in condition) {
    checkCondition(condition.not, `${path}.not`, seen)
  } else if ('all' in condition || 'any' in condition) {
    const [name, children] =
      'all' in condition ? (['all', condition.all] as const) : (['any', condition.any] as const)
    children.forEach((child, n) => {
      checkCondition(child, `${path}.${name}[${n}]`, seen)
    })
  } else {
    checkClause(condition, path, seen)
  }
}

function checkClause(clause: Clause, path: string, seen: Seen): void {
  const operator = findOperator(clause.operator)
  const key = pathKey(clause.field)
  const field = seen.fields.get(key)
  if (operator === undefined) return
  if (field === undefined) {
    // Who asks whether a field is missing expects that it is.
    const expectsNothing = operator.name === 'not_exists' || operator.name === 'is_empty'
    if (!expectsNothing && !isSeen(key, seen.fields))
      seen.report.find('unknown_field', seen.index, path, `${clause.field} ${writeNever(clause.field, seen)}`)
    return
  }
  checkValues(clause, operator.name, field, path, seen)
  checkKinds(
    clause,
    operator.name,
    operator.compares.map((kind) => kindNames[kind]),
    field,
    path,
    seen,
  )
}

function checkValues(clause: Clause, operator: string, field: ObservedField, path: string, seen: Seen): void {
  if (
    !['equals', 'not_equals', 'in', 'not_in'].includes(operator) ||
    field.distinct > Math.min(maxListed, field.values.length)
  )
    return
  const test = (value: unknown) => findOperator('equals')?.compile(value)
  const judging = new Judging(0)
  const wanted = Array.isArray(clause.value) ? clause.value : [clause.value]
  const unseen = wanted.filter((value) => !field.values.some((one) => test(value)?.(one.value, judging)))
  if (unseen.length === 0) return
  const list = field.values
    .slice(0, 3)
    .map(({ value, count }) => `${JSON.stringify(value)} ${percent(count / seen.events)}`)
  for (const value of unseen) {
    const texts = field.values.flatMap((one) => (typeof one.value === 'string' ? [one.value] : []))
    const nearest = typeof value === 'string' ? findSimilar(value, texts) : undefined
    const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`
    const message = `${clause.field} was never ${JSON.stringify(value)} in ${count(seen.events)} ${seen.trigger} events; seen: ${list.join(', ')}.${hint}`
    seen.report.find('unseen_value', seen.index, path, message)
  }
}

function checkKinds(
  clause: Clause,
  operator: string,
  compares: readonly (ObservedKind | undefined)[],
  field: ObservedField,
  path: string,
  seen: Seen,
): void {
  if (operator.endsWith('exists') || operator.endsWith('empty')) return
  const others = (Object.entries(field.kinds) as [ObservedKind, number][]).filter(
    ([kind, times]) => times > 0 && kind !== 'null' && !compares.includes(kind),
  )
  if (others.length > 0) {
    const list = join(
      others.map(([kind, times]) => `${kind} in ${count(times)} of ${count(seen.events)} events`),
    )
    seen.report.find(
      'mixed_kinds',
      seen.index,
      path,
      `${clause.field} is ${list}: ${operator} takes that for missing.`,
    )
    return
  }
  const isNumeric =
    findOperator(operator)?.value !== undefined && /^(?:greater|less|between|not_between)/.test(operator)
  const noNumber = isNumeric
    ? field.values.find(({ value }) => typeof value === 'string' && Number.isNaN(toNumber(value)))
    : undefined
  if (noNumber === undefined) return
  const times = field.kinds.text ?? noNumber.count
  seen.report.find(
    'mixed_kinds',
    seen.index,
    path,
    `${clause.field} is text in ${count(times)} of ${count(seen.events)} events, and ${JSON.stringify(noNumber.value)} is no number: ${operator} takes it for missing.`,
  )
}

/** A path is seen, too, if one that leads to it or on from it is: what is deep in the data may not be listed. */
function isSeen(key: string, fields: ReadonlyMap<string, ObservedField>): boolean {
  if (fields.has(key)) return true
  for (const other of fields.keys()) if (other.startsWith(`${key}.`)) return true
  return false
}

function writeNever(field: string, { events, fields, trigger }: Seen): string {
  const nearest = findSimilar(
    field,
    [...fields.values()].map(({ path }) => path),
  )
  const share = nearest === undefined ? undefined : fields.get(pathKey(nearest))?.share
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest} (in ${percent(share ?? 0)})?`
  return `was in none of ${count(events)} ${trigger} events.${hint}`
}

function percent(share: number): string {
  const value = share * 100
  return `${Number(value.toFixed(1))} %`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
