import { Check } from 'typebox/value'
import type { ActionDefinition } from './actions/action-definition.js'
import { type CompileString, findCompiler, findDefinition } from './config-template.js'
import { findForeignSyntax, hasInvisible } from './foreign-syntax.js'
import { findOperator } from './operators/index.js'
import { maxPathLength, parsePath } from './path.js'
import { capitalize } from './plain-bounds.js'
import { maxClauses, maxNesting, maxPatternSteps, maxPlaceholders } from './rule.js'
import type { Template } from './template.js'

/** One fault: its path, such as `actions[1].config.to`, and a message. */
export interface Fault {
  field: string
  message: string
}

interface Search {
  faults: Fault[]
  clauses: number
  /** Of all patterns together: see patternSteps. */
  patternSteps: number
  placeholders: number
}

// The API refuses deeper bodies earlier. With this limit the engine handles the input of every caller.
const maxConfigDepth = 32

/**
 * Finds the faults that schemas cannot express: faulty paths, patterns, placeholders, durations and dates, and the limits
 * of a rule as a whole. Takes any shape and ignores faults that a schema reports, so both can be reported together. It
 * needs the whole definition, also for a partial update. Never throws.
 */
export function findRuleFaults(definition: { conditions?: unknown; actions?: unknown }): Fault[] {
  const search: Search = { faults: [], clauses: 0, patternSteps: 0, placeholders: 0 }
  searchConditions(search, definition.conditions, 'conditions', 0)
  if (Array.isArray(definition.actions)) {
    for (const [index, action] of definition.actions.entries())
      searchAction(search, action, `actions[${index}]`)
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
  return search.faults
}

function searchConditions(search: Search, conditions: unknown, field: string, depth: number): void {
  if (!Array.isArray(conditions)) return
  for (const [index, condition] of conditions.entries())
    searchCondition(search, condition, `${field}[${index}]`, depth)
}

function searchCondition(search: Search, condition: unknown, field: string, depth: number): void {
  if (!isObject(condition)) return
  const group = ['all', 'any', 'not'].find((keyword) => Object.hasOwn(condition, keyword))
  if (!group) {
    searchClause(search, condition, field)
  } else if (depth === maxNesting) {
    report(search, field, `must not nest groups more than ${maxNesting} deep`)
  } else if (group === 'not') {
    searchCondition(search, condition.not, `${field}.not`, depth + 1)
  } else {
    searchConditions(search, condition[group], `${field}.${group}`, depth + 1)
  }
}

function searchClause(search: Search, clause: Record<string, unknown>, field: string): void {
  search.clauses += 1
  // To compile a pattern takes up to some milliseconds, so what is beyond a limit is not looked at.
  if (search.clauses > maxClauses || search.patternSteps > maxPatternSteps) return
  const path = clause.field
  if (typeof path === 'string' && path !== '' && path.length <= maxPathLength && !parsePath(path))
    report(search, `${field}.field`, 'must be a field path such as lead.tags[0].name')
  else if (typeof path === 'string' && hasInvisible(path))
    report(search, `${field}.field`, 'has an invisible character: type it again')
  const operator = typeof clause.operator === 'string' ? findOperator(clause.operator) : undefined
  if (!operator?.value || !Check(operator.value, clause.value)) return
  const fault = operator.findFault?.(clause.value)
  if (fault) report(search, `${field}.value`, fault)
  // Also of a pattern that is too large: a rule of fifty of them took 14 s to refuse.
  search.patternSteps += operator.patternSteps?.(clause.value) ?? 0
}

function searchAction(search: Search, action: unknown, field: string): void {
  if (!isObject(action)) return
  searchCondition(search, action.when, `${field}.when`, 0)
  if (!isObject(action.config)) return
  // Of the items of forEach.
  if (action.type === 'EMIT_EVENT') searchConditions(search, action.config.where, `${field}.config.where`, 0)
  for (const [key, value] of Object.entries(action.config)) {
    if (key === 'where' && action.type === 'EMIT_EVENT') continue
    const compile = findCompiler(action.type, action.config, key)
    searchTexts(search, value, `${field}.config.${key}`, 1, compile)
  }
  const definition = findDefinition(action.type)
  if (definition === undefined) return
  searchFormats(search, definition, action.config, `${field}.config`)
  const fault = definition.findFault?.(action.config)
  if (fault) report(search, `${field}.config.${fault.field}`, fault.message)
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
  { placeholders, parts = [], itemParts = [] }: Template,
  field: string,
): void {
  search.placeholders += placeholders
  for (const { name } of [...parts, ...itemParts].slice(0, maxPlaceholders)) {
    const fault = findForeignSyntax(name)
    if (fault !== undefined) report(search, field, fault)
  }
}

/** Texts without placeholders are checked now, the others after they are rendered. */
function searchFormats(
  search: Search,
  definition: ActionDefinition,
  config: Record<string, unknown>,
  field: string,
): void {
  for (const [key, findFault] of Object.entries(definition.formats)) {
    const value = Object.hasOwn(config, key) ? config[key] : undefined
    const schema = definition.config.properties[key]
    if (!schema || !(typeof value === 'string' || Array.isArray(value)) || !Check(schema, value)) continue
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

function report(search: Search, field: string, message: string): void {
  search.faults.push({ field, message: capitalize(message) })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
