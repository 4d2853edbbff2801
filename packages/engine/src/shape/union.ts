import { hintOfName, hintOfTag } from './hints.js'
import { hasField, isOfType, kindOf, type Schema, valuesOf } from './schema.js'
import type { Check } from './walk.js'

type Compile = (schema: Schema) => Check

/** Follows the one branch that a value is meant for, so that each fault is reported once, at its own path. */
export function compileUnion(branches: readonly Schema[], compile: Compile): Check {
  const tag = findTag(branches)
  return tag === undefined ? compileChoice(branches, compile) : compileTagged(tag, branches, compile)
}

/** The field of which each branch has values of its own, such as `operator`. */
function findTag(branches: readonly Schema[]): string | undefined {
  return branches[0]?.required?.find((name) =>
    branches.every(
      ({ properties, required, additionalProperties }) =>
        additionalProperties === false &&
        required?.includes(name) &&
        valuesOf(properties?.[name] ?? {}) !== undefined,
    ),
  )
}

/** An object is meant for the branch whose first required field it has, or else for the last one of objects. Other values have their type. */
function compileChoice(branches: readonly Schema[], compile: Compile): Check {
  const options = branches.map((schema) => ({
    types: [schema.type ?? []].flat(),
    keyword: schema.required?.[0],
    check: compile(schema),
  }))
  return (value, walk) => {
    // A number that is no integer has a fault of the branch for integers.
    const example = typeof value === 'number' ? Math.trunc(value) : value
    const fitting = options.filter(({ types }) => types.length === 0 || isOfType(types, example))
    const option =
      kindOf(value) === 'object'
        ? (fitting.find(({ keyword }) => keyword && hasField(value as object, keyword)) ?? fitting.at(-1))
        : fitting[0]
    ;(option ?? options.at(-1))?.check(value, walk)
  }
}

/** Of an object whose tag names no branch, that is reported which holds for all of them. */
function compileTagged(tag: string, branches: readonly Schema[], compile: Compile): Check {
  const options = branches.map(({ properties = {}, required = [] }) => ({
    values: valuesOf(properties[tag] ?? {}) ?? [],
    required,
    checks: new Map(Object.entries(properties).map(([name, part]) => [name, compile(part)])),
  }))
  const byValue = new Map(options.flatMap((option) => option.values.map((value) => [value, option])))
  const names = [...new Set(options.flatMap(({ checks }) => [...checks.keys()]))]
  const common = names.filter(
    (name) => name !== tag && options.every(({ required }) => required.includes(name)),
  )
  const [first, ...others] = options
  const alike = [...(first?.checks ?? [])].filter(
    ([name, check]) => common.includes(name) && others.every(({ checks }) => checks.get(name) === check),
  )
  return (value, walk) => {
    if (kindOf(value) !== 'object') return walk.report('Must be an object')
    const held = value as Record<string, unknown>
    for (const name of common) if (!hasField(held, name)) walk.report('Required', undefined, name)
    for (const name of Object.keys(held))
      if (!names.includes(name) && hasField(held, name))
        walk.report('Unknown field', () => hintOfName(name, names), name)
    const option = byValue.get(held[tag])
    if (option === undefined) {
      for (const [name, check] of alike) if (hasField(held, name)) walk.enter(name, held[name], check)
      const hint = () => hintOfTag(tag, held[tag], [...byValue.keys()].map(String))
      return walk.report(hasField(held, tag) ? `Unknown ${tag}` : 'Required', hint, tag)
    }
    for (const name of names) {
      const check = option.checks.get(name)
      const isThere = hasField(held, name)
      if (isThere && check) walk.enter(name, held[name], check)
      else if (isThere) walk.report('Unknown field', () => `This ${tag} accepts no ${name}`, name)
      else if (option.required.includes(name) && !common.includes(name))
        walk.report('Required', undefined, name)
    }
  }
}
