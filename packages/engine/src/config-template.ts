import { compileTemplate, constantTemplate, type Render, type Template } from './template.js'

/**
 * Compiles any JSON value: each string in it is a template, and keys are not. A part without placeholders is copied and
 * frozen once, and all executions share it. Throws if a string has a fault.
 */
export function compileConfig(json: unknown): Template {
  if (typeof json === 'string') return compileText(json)
  if (Array.isArray(json)) return compileList(json)
  if (typeof json === 'object' && json !== null) return compileObject(json)
  return constantTemplate(json)
}

function compileText(text: string): Template {
  const template = compileTemplate(text)
  if (typeof template === 'string') throw new Error(`A config text ${template}`)
  return template
}

function compileList(json: readonly unknown[]): Template {
  const items = json.map(compileConfig)
  if (items.every((item) => item.placeholders === 0))
    return constantTemplate(Object.freeze(items.map((item) => item.constant)))
  return {
    placeholders: countPlaceholders(items),
    entries: items.map((item, index) => [String(index), item] as const),
    render: (data, rendering) => items.map((item) => item.render(data, rendering)),
  }
}

function compileObject(json: object): Template {
  const entries = Object.entries(json).map(([key, value]) => [key, compileConfig(value)] as const)
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
