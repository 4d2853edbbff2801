import type { Fault } from '../fault.js'
import { Condition } from '../rule.js'
import { maxListed } from '../texts/nearest.js'
import { hintOfEnum, hintOfName, hintOfType } from './hints.js'
import { hasField, isOfType, kindOf, refuseUnchecked, type Schema, valuesOf } from './schema.js'
import { compileUnion } from './union.js'
import { type Check, Walk } from './walk.js'
import { type Counted, describeTypes, haveAt } from './words.js'

/**
 * Prepares a schema, at its first use, to find all faults of values at once, each once. A value may be anything, and takes time in proportion to
 * its size: of a union it follows one branch (union.ts).
 */
export function compileShape(schema: object): (value: unknown) => Fault[] {
  let check: Check | undefined
  return (value) => {
    check ??= compile(schema)
    const walk = new Walk()
    check(value, walk)
    return walk.faults
  }
}

export function fits(schema: object, value: unknown): boolean {
  return compileShape(schema)(value).length === 0
}

/** What schemas share is compiled once. */
const compiled = new WeakMap<Schema, Check>()

function compile(schema: Schema): Check {
  let check = compiled.get(schema)
  if (check === undefined) {
    refuseUnchecked(schema)
    const branches = schema.anyOf ?? schema.oneOf
    if (schema.$ref !== undefined) check = refer(schema.$ref)
    else check = branches ? compileUnion(branches, compile) : compilePlain(schema)
    compiled.set(schema, check)
  }
  return check
}

/** A condition has conditions in it, so it is compiled when the first of them is met. */
function refer(reference: string): Check {
  if (reference !== 'Condition#') throw new Error(`There is no schema ${reference}`)
  return (value, walk) => compile(Condition as Schema)(value, walk)
}

function compilePlain(schema: Schema): Check {
  const { type = [], description } = schema
  const allowed = valuesOf(schema)
  const types = [type].flat()
  const byKind: Record<string, Check | undefined> = {
    string: compileText(schema),
    number: compileNumber(schema),
    array: compileList(schema),
    object: compileObject(schema),
  }
  return (value, walk) => {
    if (types.length > 0 && !isOfType(types, value))
      walk.report(`Must be ${describeTypes(types)}`, () => hintOfType(value, description))
    if (allowed?.includes(value) === false)
      walk.report(`Must be one of ${listValues(allowed, value)}`, () => hintOfEnum(value, allowed))
    byKind[kindOf(value) ?? '']?.(value, walk)
  }
}

function listValues(allowed: readonly unknown[], value: unknown): string {
  return allowed.length > maxListed && typeof value === 'string'
    ? `${allowed.length} values`
    : allowed.join(', ')
}

function compileNumber({ minimum = -Infinity, maximum = Infinity }: Schema): Check {
  return (value, walk) => {
    if ((value as number) > maximum) walk.report(`Must be at most ${maximum}`)
    if ((value as number) < minimum) walk.report(`Must be at least ${minimum}`)
  }
}

function compileText({ minLength = 0, maxLength = Infinity, pattern, patternError }: Schema): Check {
  const expected = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  return (value, walk) => {
    const text = value as string
    checkCount(walk, countCharacters(text, minLength, maxLength), 'character', minLength, maxLength)
    if (expected?.test(text) === false) walk.report(`Must ${patternError ?? `match pattern "${pattern}"`}`)
  }
}

/** A character may have two units. They are counted only where that makes a difference. */
function countCharacters(text: string, least: number, most: number): number {
  const { length } = text
  return length > 2 * most || (length >= 2 * least && length <= most) ? length : [...text].length
}

function checkCount(walk: Walk, count: number, what: Counted, least = 0, most = Infinity): void {
  if (count > most) walk.report(`Must ${haveAt('most', most, what)}`)
  if (count < least) walk.report(`Must ${haveAt('least', least, what)}`)
}

function compileList({ items, minItems, maxItems, uniqueItems }: Schema): Check {
  const check = items && compile(items)
  return (value, walk) => {
    const list = value as unknown[]
    checkCount(walk, list.length, 'item', minItems, maxItems)
    if (check) for (const [index, item] of list.entries()) walk.enter(index, item, check)
    // Such lists are of texts.
    if (uniqueItems && new Set(list).size < list.length) walk.report('Must have no item twice')
  }
}

function compileObject(schema: Schema): Check | undefined {
  const { properties = {}, patternProperties = {}, required = [], patternError } = schema
  const { additionalProperties, minProperties, maxProperties } = schema
  const fields = Object.entries(properties).map(([name, part]) => ({ name, check: compile(part) }))
  const patterns = Object.entries(patternProperties).map(([pattern, part]) => ({
    pattern: new RegExp(pattern, 'u'),
    check: compile(part),
  }))
  const isClosed = additionalProperties === false
  const isBounded = minProperties !== undefined || maxProperties !== undefined
  // Data may have thousands of fields.
  if (!isClosed && !isBounded && fields.length + patterns.length + required.length === 0) return undefined
  const known = new Set(Object.keys(properties))
  const unknown = patternError === undefined ? 'Unknown field' : `Must ${patternError}`
  const findHint = (name: string) => (patternError === undefined ? hintOfName(name, [...known]) : undefined)
  return (value, walk) => {
    const held = value as Record<string, unknown>
    if (isBounded) checkCount(walk, Object.keys(held).length, 'property', minProperties, maxProperties)
    for (const name of required) if (!hasField(held, name)) walk.report('Required', undefined, name)
    for (const name of isClosed ? Object.keys(held) : [])
      if (!known.has(name) && hasField(held, name) && !patterns.some(({ pattern }) => pattern.test(name)))
        walk.report(unknown, () => findHint(name), name)
    for (const { name, check } of fields) if (hasField(held, name)) walk.enter(name, held[name], check)
    for (const { pattern, check } of patterns)
      for (const name of Object.keys(held))
        if (hasField(held, name) && pattern.test(name)) walk.enter(name, held[name], check)
  }
}
