import type { ActionDefinition } from '../actions/action-definition.js'
import { type CompileString, findCompiler, findDefinition } from '../configs/config-template.js'
import type { Fault } from '../fault.js'
import { findHoursFault } from '../hours/hours.js'
import { findOperator } from '../operators/index.js'
import type { Operator } from '../operators/operator.js'
import { quantifiers } from '../operators/quantifiers.js'
import { takesLinks } from '../results/decision-links.js'
import { type Declared, findReadFault, maxCaptured, readDeclared } from '../results/recorded.js'
import { maxClauses, maxNesting, maxPatternSteps } from '../rule.js'
import { fits } from '../shape/compile-shape.js'
import { isReserved, noEventData } from '../templates/credential.js'
import { findForeignSyntax, hasInvisible } from '../templates/foreign-syntax.js'
import { maxPlaceholders } from '../templates/placeholder.js'
import { compileTemplate, readsOf, type Template } from '../templates/template.js'
import { capitalize } from '../texts/capitalize.js'
import { maxPathLength, parsePath } from '../values/path.js'
import { isReference, itemItself } from '../values/value-reference.js'
import { findFilteredLink, findSecondDecision } from './decision-faults.js'
import type { DefinitionToCheck } from './definition-to-check.js'

interface Search {
  faults: Fault[]
  clauses: number
  /** Of all patterns together: see patternSteps. */
  patternSteps: number
  placeholders: number
  readonly declared: Declared
  /** The index of the action that is searched; -1 in the conditions of the rule. */
  action: number
  /** Whether the texts that are searched may have the links of a decision. */
  isLinkField: boolean
}

// The API refuses deeper bodies earlier. With this limit the engine handles the input of every caller.
const maxConfigDepth = 32

/**
 * Finds the faults that schemas cannot express: faulty paths, patterns, placeholders, durations and dates, and the limits
 * of a rule as a whole. Takes any shape and ignores faults that a schema reports, so both can be reported together. It
 * needs the whole definition, also for a partial update. Never throws.
 */
export function findRuleFaults(definition: DefinitionToCheck): Fault[] {
  const declared = readDeclared(definition.actions, definition.perKey)
  const search: Search = {
    faults: [],
    clauses: 0,
    patternSteps: 0,
    placeholders: 0,
    declared,
    action: -1,
    isLinkField: false,
  }
  searchConditions(search, definition.conditions, 'conditions', outermost)
  if (Array.isArray(definition.actions)) {
    for (const [index, action] of definition.actions.entries()) {
      search.action = index
      searchAction(search, action, `actions[${index}]`)
    }
  }
  if (search.clauses > maxClauses)
    report(
      search,
      'conditions',
      `must have at most ${maxClauses} conditions, including those in the actions' when`,
    )
  if (search.patternSteps > maxPatternSteps)
    report(
      search,
      'conditions',
      `must have fewer or smaller patterns: together, including those in the actions' when, they may have ${maxPatternSteps} instructions, and \\p{…} counts as three`,
    )
  if (search.placeholders > maxPlaceholders)
    report(search, 'actions', `must have at most ${maxPlaceholders} placeholders in all`)
  const captured = [...declared.captured.values()].flat().length
  if (captured > maxCaptured) report(search, 'actions', `must capture at most ${maxCaptured} values in all`)
  return search.faults
}

/** Where conditions stand: how deep, and whether their paths begin at the item of a list, or in the data of another event. */
interface Place {
  readonly depth: number
  readonly isItem: boolean
  readonly isOther?: boolean
}

const outermost: Place = { depth: 0, isItem: false }
const ofItem: Place = { depth: 0, isItem: true }
const ofOther: Place = { depth: 0, isItem: false, isOther: true }

function searchConditions(search: Search, conditions: unknown, field: string, place: Place): void {
  if (!Array.isArray(conditions)) return
  for (const [index, condition] of conditions.entries())
    searchCondition(search, condition, `${field}[${index}]`, place)
}

function searchCondition(search: Search, condition: unknown, field: string, place: Place): void {
  if (!isObject(condition)) return
  if (Object.hasOwn(condition, 'time') && !Object.hasOwn(condition, 'field')) {
    searchTime(search, condition.time, `${field}.time`, place)
    return
  }
  const group = ['all', 'any', 'not', ...quantifiers].find((keyword) => Object.hasOwn(condition, keyword))
  const inner = { ...place, depth: place.depth + 1 }
  if (!group) {
    searchClause(search, condition, field, place)
  } else if (place.depth === maxNesting) {
    report(search, field, `must not nest condition groups more than ${maxNesting} deep`)
  } else if (group === 'not') {
    searchCondition(search, condition.not, `${field}.not`, inner)
  } else if (group === 'all' || group === 'any') {
    searchConditions(search, condition[group], `${field}.${group}`, inner)
  } else if (place.isItem) {
    report(
      search,
      `${field}.${group}`,
      'must not be a list within a list: a condition on an item has no list conditions',
    )
  } else {
    // Without `that` it is a comparison by itself.
    if (condition.that === undefined) search.clauses += 1
    searchPath(search, condition[group], `${field}.${group}`, { ...place, depth: 0 })
    searchConditions(search, condition.that, `${field}.that`, { ...inner, isItem: true })
  }
}

function searchTime(search: Search, hours: unknown, field: string, { isItem }: Place): void {
  search.clauses += 1
  if (isItem) report(search, field, 'must not be a condition on an item: it is about the event')
  const fault = findHoursFault(hours)
  if (fault) report(search, `${field}.${fault.field}`, fault.message)
}

function searchClause(search: Search, clause: Record<string, unknown>, field: string, place: Place): void {
  search.clauses += 1
  // To compile a pattern takes up to some milliseconds, so what is beyond a limit is not looked at.
  if (search.clauses > maxClauses || search.patternSteps > maxPatternSteps) return
  searchPath(search, clause.field, `${field}.field`, place)
  const operator = typeof clause.operator === 'string' ? findOperator(clause.operator) : undefined
  if (!operator?.value) return
  if (isReference(clause.value)) searchReference(search, clause.value, operator, `${field}.value`, place)
  if (!fits(operator.value, clause.value)) return
  const fault = operator.findFault?.(clause.value)
  if (fault) report(search, `${field}.value`, fault)
  // Also of a pattern that is too large: a rule of fifty of them took 14 s to refuse.
  search.patternSteps += operator.patternSteps?.(clause.value) ?? 0
}

function searchPath(search: Search, path: unknown, field: string, { isItem, isOther }: Place): void {
  if (typeof path !== 'string' || path === '' || path.length > maxPathLength) return
  if (isItem && path === itemItself) return
  if (!isItem && isReserved(path)) report(search, field, noEventData)
  else if (!parsePath(path))
    report(
      search,
      field,
      `must be a field path such as lead.tags[0].name${isItem ? ', or . for the item itself' : ''}`,
    )
  else if (hasInvisible(path)) report(search, field, 'has an invisible character: type it again')
  else if (!isItem && !isOther) searchRead(search, path, field)
}

/** Of the event, or of what earlier actions recorded. */
function searchRead(search: Search, path: string, field: string): void {
  const fault = findReadFault(search.declared, path, search.action, search.isLinkField)
  if (fault) report(search, field, fault)
}

function searchReference(
  search: Search,
  value: Record<string, unknown>,
  operator: Operator,
  field: string,
  place: Place,
): void {
  // Operators without it have a schema that says what their value must be.
  if (operator.compareTwo === undefined) return
  if (!Object.hasOwn(value, 'root')) searchPath(search, value.field, `${field}.field`, place)
  else if (place.isItem) searchPath(search, value.root, `${field}.root`, { ...place, isItem: false })
  else report(search, `${field}.root`, 'must be field: root is for conditions on the items of a list')
}

function searchAction(search: Search, action: unknown, field: string): void {
  if (!isObject(action)) return
  searchName(search, action.name, `${field}.name`)
  searchCondition(search, action.when, `${field}.when`, outermost)
  if (!isObject(action.config)) return
  // Of the items of forEach.
  if (action.type === 'EMIT_EVENT')
    searchConditions(search, action.config.where, `${field}.config.where`, ofItem)
  if (action.type === 'WAIT' && isObject(action.config.for))
    searchConditions(search, action.config.for.conditions, `${field}.config.for.conditions`, ofOther)
  const second = findSecondDecision(search.declared, action, search.action)
  if (second) report(search, `${field}.config.decision`, second)
  for (const [key, value] of Object.entries(action.config)) {
    if (key === 'where' && action.type === 'EMIT_EVENT') continue
    if (key === 'for' && action.type === 'WAIT' && isObject(value)) {
      searchTexts(search, value.match, `${field}.config.for.match`, 2, compileTemplate)
      continue
    }
    const compile = findCompiler(action.type, action.config, key)
    search.isLinkField = takesLinks(action.type, key)
    searchTexts(search, value, `${field}.config.${key}`, 1, compile)
    search.isLinkField = false
  }
  if (typeof action.config.forEach === 'string')
    searchRead(search, action.config.forEach, `${field}.config.forEach`)
  const definition = findDefinition(action.type)
  if (definition === undefined) return
  searchFormats(search, definition, action.config, `${field}.config`)
  const fault = definition.findFault?.(action.config)
  if (fault) report(search, `${field}.config.${fault.field}`, fault.message)
}

function searchName({ declared, action, ...search }: Search, name: unknown, field: string): void {
  const [first = action] = (typeof name === 'string' && declared.actions.get(name)) || []
  if (first < action) report(search, field, `must be unique in the rule: actions[${first}] has this name`)
}

function searchTexts(
  search: Search,
  json: unknown,
  field: string,
  depth: number,
  compile: CompileString,
): void {
  if (depth > maxConfigDepth) {
    report(search, field, `must not be nested deeper than ${maxConfigDepth} levels`)
  } else if (typeof json === 'string') {
    const template = compile(json)
    if (typeof template === 'string') report(search, field, template)
    else searchTemplate(search, template, field)
  } else if (Array.isArray(json)) {
    for (const [index, item] of json.entries())
      searchTexts(search, item, `${field}[${index}]`, depth + 1, compile)
  } else if (isObject(json)) {
    for (const [key, value] of Object.entries(json))
      searchTexts(search, value, `${field}.${key}`, depth + 1, compile)
  }
}

function searchTemplate(
  search: Search,
  { placeholders, parts = [], itemParts = [], lists = [] }: Template,
  field: string,
): void {
  search.placeholders += placeholders
  for (const path of lists) searchRead(search, path, field)
  for (const { name, calls } of [...parts, ...itemParts].slice(0, maxPlaceholders)) {
    const fault = findForeignSyntax(name)
    if (fault !== undefined) report(search, field, fault)
    const reads = readsOf({ name, calls })
    for (const path of reads) searchRead(search, path, field)
    const filtered = findFilteredLink(search.declared, calls, reads)
    if (filtered) report(search, field, filtered)
  }
}

/** Texts without placeholders are checked now, the others after they are rendered. */
function searchFormats(
  search: Search,
  definition: ActionDefinition,
  config: Record<string, unknown>,
  field: string,
): void {
  for (const [key, findFault] of Object.entries(definition.formats ?? {})) {
    const value = Object.hasOwn(config, key) ? config[key] : undefined
    const schema = definition.config.properties[key]
    if (!schema || !(typeof value === 'string' || Array.isArray(value)) || !fits(schema, value)) continue
    const compile = findCompiler(definition.type, config, key)
    const texts = Array.isArray(value) ? value : [value]
    for (const [index, text] of texts.entries()) {
      const template = typeof text === 'string' ? compile(text) : ''
      if (typeof template === 'string' || template.placeholders > 0) continue
      const fault = findFault(String(template.constant))
      if (fault) report(search, `${field}.${key}${Array.isArray(value) ? `[${index}]` : ''}`, fault)
    }
  }
}

function report(search: Pick<Search, 'faults'>, field: string, message: string): void {
  search.faults.push({ field, message: capitalize(message) })
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
