import { type Filtering, toText } from './filters.js'
import type { Judging } from './judging.js'
import { readPath } from './path.js'
import { type Placeholder, parsePlaceholder } from './placeholder.js'

/** The state of rendering one config: its warnings, and the number of characters written so far. */
export interface Rendering {
  warnings: string[]
  size: number
  /** To it the work of filters and of writing values is charged. */
  judging?: Judging
}

/** Renders a template with event data. Never throws, and never renders its own output again. */
export type Render = (data: unknown, rendering: Rendering) => unknown

export interface Template {
  /** The number of placeholders. With none, `render` always returns `constant`. */
  readonly placeholders: number
  readonly constant?: unknown
  /** The placeholders of a text. */
  readonly parts?: readonly Placeholder[]
  /** The templates within an object or a list, by their key. */
  readonly entries?: readonly (readonly [key: string, template: Template])[]
  readonly render: Render
}

export interface TextTemplate extends Template {
  readonly render: (data: unknown, rendering: Rendering) => string
}

/** The maximum number of rendered characters in a config: 32 KiB of `{{lead}}` could otherwise fill the memory. */
export const maxRenderedLength = 1_048_576

/** Makes a template of a value that is the same for all data. */
export function constantTemplate(value: unknown): Template {
  return { placeholders: 0, constant: value, render: () => value }
}

/**
 * Compiles a text with placeholders, `Dear {{lead.name | default:"friend"}}`; `\{{` is a literal `{{`.
 * A text that is a single placeholder renders as the value itself, with its type. In a longer text an object is written
 * as JSON, and null as nothing. A missing value renders as "" with a warning. Returns the fault of a text that is not a
 * template (`has an unknown filter: shout`).
 */
export function compileTemplate(text: string): Template | string {
  const split = splitTemplate(text)
  if (typeof split === 'string') return split
  const { literals, placeholders } = split
  const [only] = placeholders
  if (only === undefined) return constantTemplate(literals.join(''))
  if (placeholders.length === 1 && literals.join('') === '')
    return {
      placeholders: 1,
      parts: placeholders,
      render: (data, rendering) => resolveValue(only, data, rendering),
    }
  return joinParts(split, writeText)
}

/**
 * Like compileTemplate, but it always renders a text. `quote` is applied to the values of placeholders only.
 */
export function compileText(text: string, quote: (text: string) => string): TextTemplate | string {
  const split = splitTemplate(text)
  return typeof split === 'string' ? split : joinParts(split, (value) => quote(writeText(value)))
}

/** A placeholder of a text, for tools that read rules. */
export interface PlaceholderUse {
  /** The path as written. */
  readonly path: string
  readonly filters: number
  /** Whether the text is this placeholder and nothing else, so that it renders as the value itself. */
  readonly isWhole: boolean
}

/** Lists the placeholders of a text; none for a text with a fault. */
export function listPlaceholderUses(text: string): PlaceholderUse[] {
  const split = splitTemplate(text)
  if (typeof split === 'string') return []
  const isWhole = split.placeholders.length === 1 && split.literals.join('') === ''
  return split.placeholders.map(({ name, filters }) => ({ path: name, filters: filters.length, isWhole }))
}

/** All placeholders of a template, at any depth. */
export function listPlaceholders({ parts = [], entries = [] }: Template): readonly Placeholder[] {
  return [...parts, ...entries.flatMap(([, template]) => listPlaceholders(template))]
}

/** Describes the placeholders that render as nothing: `{{email}} is missing`. */
export function describeEmpty(template: Template, data: unknown): string[] {
  const found = listPlaceholders(template).flatMap((placeholder) => {
    const value = evaluate(placeholder, data, { warnings: [], size: 0 })
    const state =
      value === undefined ? 'missing' : value === null ? 'null' : value === '' ? 'empty' : undefined
    return state === undefined ? [] : [`{{${placeholder.name}}} is ${state}`]
  })
  return [...new Set(found)]
}

type Write = (value: unknown) => string

function joinParts({ literals, placeholders }: SplitText, write: Write): TextTemplate {
  return {
    placeholders: placeholders.length,
    parts: placeholders,
    render(data, rendering) {
      let rendered = literals[0] as string
      for (let n = 0; n < placeholders.length; n++)
        rendered += resolveText(placeholders[n] as Placeholder, data, rendering, write) + literals[n + 1]
      return rendered
    },
  }
}

function resolveText(placeholder: Placeholder, data: unknown, rendering: Rendering, write: Write): string {
  if (isOver(rendering)) return ''
  const value = resolve(placeholder, data, rendering)
  if (value === undefined) return ''
  const text = write(value)
  rendering.size += text.length
  if (typeof value === 'object') rendering.judging?.charge(text.length * workPerCharacter)
  return rendering.size > maxRenderedLength ? '' : text
}

function resolveValue(placeholder: Placeholder, data: unknown, rendering: Rendering): unknown {
  if (isOver(rendering)) return ''
  const value = resolve(placeholder, data, rendering)
  if (value === undefined) return ''
  if (typeof value === 'string') rendering.size += value.length
  else if (typeof value === 'object' && value !== null) {
    const { length } = writeText(value)
    rendering.size += length
    rendering.judging?.charge(length * workPerCharacter)
  }
  return rendering.size > maxRenderedLength ? '' : value
}

/** Units of work for a character that a filter reads, or that a filter or JSON writes. */
const workPerCharacter = 0.5

/** True where nothing more is rendered: the action fails in any case. */
function isOver({ size, judging }: Rendering): boolean {
  return size > maxRenderedLength || (judging !== undefined && !judging.affords(0))
}

function resolve(placeholder: Placeholder, data: unknown, rendering: Rendering): unknown {
  const value = evaluate(placeholder, data, rendering)
  if (value === undefined) warnOnce(rendering, `${placeholder.name} is missing`)
  return value
}

function evaluate(placeholder: Placeholder, data: unknown, rendering: Rendering): unknown {
  try {
    const value = readPath(placeholder.path, data)
    return placeholder.filters.length === 0 ? value : applyFilters(placeholder, value, rendering)
  } catch {
    // Only data that was never JSON can throw here (through a getter or a cycle). A value that cannot be read is missing.
    return undefined
  }
}

/** A separate function, so that a placeholder without filters does not pay for the closures of its filters. */
function applyFilters({ name, filters }: Placeholder, value: unknown, rendering: Rendering): unknown {
  let filtered = value
  let read = 0
  const filtering: Filtering = {
    warn: (message) => warnOnce(rendering, `${name} ${message}`),
    write(input) {
      const text = toText(input)
      read = text.length
      return text
    },
  }
  for (const filter of filters) {
    if (typeof filtered === 'string' && filtered.length > maxRenderedLength) break
    read = 0
    filtered = filter(filtered, filtering)
    const written = typeof filtered === 'string' ? filtered.length : 0
    rendering.judging?.charge(Math.max(read, written) * workPerCharacter)
    if (isOver(rendering)) break
  }
  return filtered
}

function writeText(value: unknown): string {
  try {
    return toText(value)
  } catch {
    return ''
  }
}

function warnOnce(rendering: Rendering, warning: string): void {
  if (!rendering.warnings.includes(warning)) rendering.warnings.push(warning)
}

interface SplitText {
  /** The text before each placeholder, and after the last one. */
  literals: string[]
  placeholders: Placeholder[]
}

/** Splits a text into literals and placeholders, or describes its fault. Reads each character once. */
function splitTemplate(text: string): SplitText | string {
  const literals: string[] = []
  const placeholders: Placeholder[] = []
  let literal = ''
  let at = 0
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    if (text[open - 1] === '\\' && open > at) {
      literal += `${text.slice(at, open - 1)}{{`
      at = open + 2
      continue
    }
    const found = parsePlaceholder(text, open)
    if (typeof found === 'string') return found
    literals.push(literal + text.slice(at, open))
    placeholders.push(found.placeholder)
    literal = ''
    at = found.end
  }
  literals.push(literal + text.slice(at))
  return { literals, placeholders }
}
