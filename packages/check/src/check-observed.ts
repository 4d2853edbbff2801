import {
  type CheckedRule,
  type Clause,
  type Condition,
  Evaluation,
  type FieldKind,
  findOperator,
  findRoot,
  findSimilar,
  isClause,
  isListCondition,
  isReference,
  listLeaves,
  listPlaceholderUses,
  listRootPaths,
  maxSurveyText,
  type ObservedField,
  type Operator,
  readDeclared,
  readList,
  readReference,
} from '@automation/engine'
import type { CheckFindings } from './finding.js'
import { join } from './join.js'
import { type SeenFields, writeCount, writePercent } from './observed.js'
import { listActionPlaceholders } from './placeholders.js'
import { isRecorded } from './recorded-parts.js'

/** With fewer events nothing is said of what was not seen: it may still come. */
export const minEvents = 20
/** So many values are listed, so that with more of them others may have been seen. */
const maxListed = 10

const kindNames: Record<string, FieldKind> = {
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
  seen: SeenFields,
  report: CheckFindings,
): void {
  if (seen.events === 0) return
  const place: Place = { seen, index, report }
  rule.conditions.forEach((condition, n) => {
    checkCondition(condition, `conditions[${n}]`, place)
  })
  for (const path of listTemplateReads(rule.perKey?.key)) {
    const never = findNever(path, seen)
    if (never !== undefined)
      report.find(
        'unseen_placeholder',
        index,
        'perKey.key',
        `{{${path}}} ${never} So all of them share one key.`,
      )
  }
  const declared = readDeclared(rule.actions, rule.perKey)
  rule.actions.forEach((action, n) => {
    if (action.when) checkCondition(action.when, `actions[${n}].when`, place)
    if (action.type === 'EMIT_EVENT')
      checkRoots(action.config.where, `actions[${n}].config.where`, place, declared)
    for (const { reads, place: text } of listActionPlaceholders(action, `actions[${n}]`)) {
      // The variables of a mail are read in its template, and the data of the event everywhere else.
      for (const name of reads) {
        const never = findRoot(declared, name) === undefined ? findNever(name, seen) : undefined
        if (never !== undefined) report.find('unseen_placeholder', index, text, `{{${name}}} ${never}`)
      }
    }
  })
}

function listTemplateReads(template = ''): string[] {
  return [...new Set(listPlaceholderUses(template).flatMap(({ reads }) => reads))]
}

interface Place {
  seen: SeenFields
  index: number
  report: CheckFindings
}

function checkCondition(condition: Condition, path: string, place: Place): void {
  for (const { leaf, path: at } of listLeaves(condition, path)) {
    if (isRecorded(leaf)) continue
    if (isListCondition(leaf)) {
      checkPresence(readList(leaf).path, at, place)
      checkRoots(leaf.that, `${at}.that`, place)
    } else if (isClause(leaf)) checkClause(leaf, at, place)
    const other = 'value' in leaf && isReference(leaf.value) ? readReference(leaf.value).text : undefined
    if (other !== undefined) checkPresence(other, `${at}.value`, place)
  }
}

/** What conditions on items read of the event. */
function checkRoots(
  conditions: readonly object[] = [],
  path: string,
  place: Place,
  declared?: ReturnType<typeof readDeclared>,
): void {
  for (const [n, condition] of conditions.entries())
    for (const root of listRootPaths(condition as Condition, `${path}[${n}]`))
      if (declared === undefined || findRoot(declared, root.path) === undefined)
        checkPresence(root.path, root.place, place)
}

/** Of the items of a list only a part is in what was seen, so only the list itself is looked for. */
function checkPresence(field: string, path: string, { seen, index, report }: Place): void {
  const never = seen.find(field) === undefined ? findNever(field, seen) : undefined
  if (never !== undefined) report.find('unknown_field', index, path, `${field} ${never}`)
}

function checkClause(clause: Clause, path: string, { seen, index, report }: Place): void {
  const operator = findOperator(clause.operator)
  if (operator === undefined) return
  const field = seen.find(clause.field)
  if (field === undefined) {
    // Who asks whether a field is missing expects that it is, but not below a list, where nothing can be.
    const expectsNothing = operator.name === 'not_exists' || operator.name === 'is_empty'
    const never = findNever(clause.field, seen, expectsNothing)
    if (never !== undefined) report.find('unknown_field', index, path, `${clause.field} ${never}`)
    return
  }
  const reading = findReading(clause, operator, field, seen)
  if (reading !== undefined) report.find('number_as_time', index, path, reading)
  if (seen.events < minEvents) return
  if (isReference(clause.value)) return
  for (const message of listUnseenValues(clause, operator.name, field, seen))
    report.find('unseen_value', index, path, message)
  const mixed = findMixedKinds(clause, operator, field, seen)
  if (mixed !== undefined) report.find('mixed_kinds', index, path, mixed)
}

function listUnseenValues(
  { field: name, value: asked }: Clause,
  operator: string,
  { top, distinct, isDistinctAtLeast }: ObservedField,
  { events, type }: SeenFields,
): string[] {
  const compares = ['equals', 'not_equals', 'in', 'not_in'].includes(operator)
  const listsAll = !isDistinctAtLeast && distinct > 0 && distinct <= Math.min(maxListed, top.length)
  if (!compares || !listsAll) return []
  const evaluation = new Evaluation(0)
  const wanted = (Array.isArray(asked) ? asked : [asked]).filter(isListable)
  const unseen = wanted.filter((value) => {
    const test = findOperator('equals')?.compile(value)
    return !top.some((one) => test?.(one.value, evaluation))
  })
  const shown = top
    .slice(0, 3)
    .map(({ value, count }) => `${JSON.stringify(value)} ${writePercent(count / events)}`)
  const texts = top.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  return unseen.map((value) => {
    const nearest = typeof value === 'string' ? findSimilar(value, texts) : undefined
    const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`
    return `${name} was never ${JSON.stringify(value)} in ${writeCount(events)} ${type} events; seen: ${shown.join(', ')}.${hint}`
  })
}

/** Whether the survey would list the value. It cuts long texts. */
function isListable(value: unknown): boolean {
  if (typeof value === 'string') return value.length < maxSurveyText
  return typeof value === 'number' || typeof value === 'boolean'
}

function findMixedKinds(
  { field: name, value: asked }: Clause,
  operator: Operator,
  field: ObservedField,
  { events }: SeenFields,
): string | undefined {
  // An operator that asks what is there reads everything.
  if (operator.reads === undefined) return undefined
  const { kindCounts } = field
  const compared = operator.compares.map((kind) => kindNames[kind])
  const others = (Object.entries(kindCounts) as [FieldKind, number][]).filter(
    ([kind]) => kind !== 'null' && !compared.includes(kind),
  )
  const all = `${writeCount(events)} events`
  if (others.length > 0) {
    const list = join(others.map(([kind, times]) => `${kind} in ${writeCount(times)} of ${all}`))
    return `${name} is ${list}, which counts as missing for ${operator.name}.`
  }
  for (const value of listSeen(field)) {
    const reason = operator.findUnread?.(value, asked)
    if (reason === undefined) continue
    const kind = typeof value === 'number' ? 'number' : 'text'
    return `${name} is ${kind} in ${writeCount(kindCounts[kind] ?? 0)} of ${all}. It counts as missing for ${operator.name}, because ${reason}.`
  }
  return undefined
}

/** Says how numbers are read as times. */
function findReading(
  { field: name }: Clause,
  operator: Operator,
  field: ObservedField,
  { events }: SeenFields,
): string | undefined {
  for (const value of listSeen(field)) {
    const reading = operator.describeReading?.(value)
    if (reading !== undefined)
      return `${name} is number in ${writeCount(field.kindCounts.number ?? 0)} of ${writeCount(events)} events. ${operator.name} accepts ${value} as a time, ${reading}.`
  }
  return undefined
}

/** The texts and numbers that are known: the most frequent ones, and the ends of all numbers. None of a list, whose items are counted, too. */
function listSeen({ kindCounts, top, smallest, largest }: ObservedField): unknown[] {
  if (kindCounts.list !== undefined) return []
  return [...top.map(({ value }) => value), smallest, largest].filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
}

/** Says that no event has a path. Undefined if that is not certain, or if too few events were seen for it. */
export function findNever(path: string, seen: SeenFields, isExpected = false): string | undefined {
  const none = `was in none of ${writeCount(seen.events)} ${seen.type} events`
  const listEnd = seen.findListEnd(path)
  if (listEnd !== undefined) return `${none}, since ${listEnd}.`
  if (isExpected || seen.events < minEvents || !seen.isUnseen(path)) return undefined
  return `${none}.${seen.suggest(path)}`
}
