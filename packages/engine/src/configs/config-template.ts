import type { ActionDefinition, TidyList } from '../actions/action-definition.js'
import { actionDefinitions } from '../actions/index.js'
import { warnOnce } from '../templates/fill-placeholder.js'
import {
  compileTemplate,
  compileTextField,
  constantTemplate,
  type Render,
  type Template,
} from '../templates/template.js'

/** Compiles the string at a place, or returns its fault. */
export type CompileString = (text: string) => Template | string

/**
 * Compiles the config of an action: each string in it is a template. One with a fault makes the action fail: the conditions and the other
 * actions of a stored rule stay what they are.
 */
export function compileConfig(type: string, config: object): Template {
  const { lists = {}, spare = [] } = findDefinition(type) ?? {}
  const template = compileObject(config, (value, field) => {
    const compiled = compileJson(value, findCompiler(type, config, field), field)
    const tidy = Object.hasOwn(lists, field) ? lists[field] : undefined
    return tidy === undefined ? compiled : tidyLists(compiled, tidy, `config.${field}`)
  })
  const filled = (template.entries ?? []).map(([field]) => field).filter((field) => spare.includes(field))
  return filled.length === 0 ? template : leaveOutEmpty(template, filled)
}

/** A constant that is empty is refused when its rule is saved. */
function leaveOutEmpty(template: Template, fields: readonly string[]): Template {
  return {
    ...template,
    render(data, rendering) {
      const config = template.render(data, rendering) as Record<string, unknown>
      for (const field of fields) {
        const value = config[field]
        if (typeof value !== 'string' || value.trim() !== '') continue
        delete config[field]
        warnOnce(rendering, `config.${field} is empty, so it was left out`)
      }
      return config
    },
  }
}

/**
 * Compiles any JSON value: each string in it is a template, and keys are not. A part without placeholders is copied and
 * frozen once, and all executions share it.
 */
export function compileJson(json: unknown, compile: CompileString = compileTemplate, field = ''): Template {
  if (typeof json === 'string') return compileOrFail(json, compile, field)
  if (Array.isArray(json)) return compileList(json, compile, field)
  if (typeof json === 'object' && json !== null)
    return compileObject(json, (value) => compileJson(value, compile, field))
  return constantTemplate(json)
}

/** Finds how the strings in a field of a config are compiled. */
export function findCompiler(type: unknown, config: object, field: string): CompileString {
  const definition = findDefinition(type)
  const { templates = {} } = definition ?? {}
  const compile = Object.hasOwn(templates, field) ? templates[field] : undefined
  if (compile) return (text) => compile(text, config as Record<string, unknown>)
  return textFields.get(definition)?.has(field) ? compileTextField : compileTemplate
}

/** Whether a field takes texts only: neither a list nor an object becomes one. */
export function isTextField(type: string, field: string): boolean {
  const definition = findDefinition(type)
  return textFields.get(definition)?.has(field) === true && !Object.hasOwn(definition?.lists ?? {}, field)
}

/** By the definition of their action. */
const textFields: ReadonlyMap<ActionDefinition | undefined, ReadonlySet<string>> = new Map(
  actionDefinitions.map((definition: ActionDefinition) => {
    const fields = Object.entries(definition.config.properties).filter(([, schema]) => holdsTexts(schema))
    return [definition, new Set(fields.map(([name]) => name))]
  }),
)

export function findDefinition(type: unknown): ActionDefinition | undefined {
  return actionDefinitions.find((one) => one.type === type)
}

/** Whether a field is a text, a list of texts, or an object of texts such as headers. */
function holdsTexts({
  type,
  patternProperties = {},
}: {
  type?: unknown
  patternProperties?: object
}): boolean {
  const types = [type].flat()
  return (
    (types.includes('string') && !types.includes('object')) ||
    Object.values(patternProperties).some((schema) => schema.type === 'string')
  )
}

/** A list without placeholders is the same for all data, and so is what becomes of it. */
function tidyLists(template: Template, tidy: TidyList, place: string): Template {
  if (template.placeholders === 0)
    return Array.isArray(template.constant)
      ? constantTemplate(Object.freeze(tidy(template.constant, { warnings: [], size: 0 }, place)))
      : template
  return {
    ...template,
    render(data, rendering) {
      const value = template.render(data, rendering)
      if (!Array.isArray(value)) return value
      // A list that is a placeholder's counts as one within a list.
      return tidy(template.isWhole ? [value] : value, rendering, place)
    },
  }
}

function compileOrFail(text: string, compile: CompileString, field: string): Template {
  const template = compile(text)
  if (typeof template !== 'string') return template
  return {
    placeholders: 1,
    render(_data, rendering) {
      rendering.fault ??= `config.${field} ${template}`
      return text
    },
  }
}

function compileList(json: readonly unknown[], compile: CompileString, field: string): Template {
  const items = json.map((item) => compileJson(item, compile, field))
  if (items.every((item) => item.placeholders === 0))
    return constantTemplate(Object.freeze(items.map((item) => item.constant)))
  return {
    placeholders: countPlaceholders(items),
    entries: items.map((item, index) => [String(index), item] as const),
    render: (data, rendering) => items.map((item) => item.render(data, rendering)),
  }
}

function compileObject(json: object, compile: (value: unknown, key: string) => Template): Template {
  const entries = Object.entries(json).map(([key, value]) => [key, compile(value, key)] as const)
  // Object.fromEntries and the spread below define keys and never assign them, so `__proto__` is an ordinary key.
  const shape = Object.fromEntries(entries.map(([key, template]) => [key, template.constant]))
  const dynamic = entries.filter(([, template]) => template.placeholders > 0)
  if (dynamic.length === 0) return constantTemplate(Object.freeze(shape))
  const renders = dynamic.map(([key, template]): [string, Render] => [key, template.render])
  return {
    placeholders: countPlaceholders(dynamic.map(([, template]) => template)),
    entries: dynamic,
    render(data, rendering) {
      const rendered = { ...shape }
      for (const [key, render] of renders) rendered[key] = render(data, rendering)
      return rendered
    },
  }
}

function countPlaceholders(templates: readonly Template[]): number {
  return templates.reduce((sum, template) => sum + template.placeholders, 0)
}
