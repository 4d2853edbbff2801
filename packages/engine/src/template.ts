import { toText } from './filters.js'
import { readPath } from './path.js'
import { type Placeholder, parsePlaceholder } from './placeholder.js'

/** What rendering one config gathers: warnings for its reader, and the characters written so far. */
export interface Rendering {
  warnings: string[]
  size: number
}

/** Fills a template from event data. Never throws, and what it writes is never read as a template again. */
export type Render = (data: unknown, rendering: Rendering) => unknown

export interface Template {
  /** How many; with none, `render` answers `constant` each time. */
  readonly placeholders: number
  readonly constant?: unknown
  readonly render: Render
}

export interface TextTemplate extends Template {
  readonly render: (data: unknown, rendering: Rendering) => string
}

/** Beyond this many characters a config takes in no more: 32 KiB of `{{lead}}` could otherwise fill the memory. */
export const maxRenderedLength = 1_048_576

/** Makes a template of a value that is the same for all data. */
export function constantTemplate(value: unknown): Template {
  return { placeholders: 0, constant: value, render: () => value }
}

/**
 * Compiles a text with placeholders, `Dear {{lead.name | default:"friend"}}`; `\{{` is a literal `{{`.
 * A text that is one placeholder and nothing else gives the value itself, of its own type; in a longer text an object
 * is written as JSON, and null as nothing. A missing value gives "" and a warning. Answers what is
 * wrong with the text (`has an unknown filter: shout`) when it is no template.
 */
export function compileTemplate(text: string): Template | string {
  const split = splitTemplate(text)
  if (typeof split === 'string') return split
  const { literals, placeholders } = split
  const [only] = placeholders
  if (only === undefined) return constantTemplate(literals.join(''))
  if (placeholders.length === 1 && literals.join('') === '')
    return { placeholders: 1, render: (data, rendering) => resolveValue(only, data, rendering) }
  return joinParts(split, writeText)
}

/**
 * Compiles a text as compileTemplate does, but always to a text: what comes out of a placeholder, and nothing else, goes
 * through `quote`.
 */
export function compileText(text: string, quote: (text: string) => string): TextTemplate | string {
  const split = splitTemplate(text)
  return typeof split === 'string' ? split : joinParts(split, (value) => quote(writeText(value)))
}

type Write = (value: unknown) => string

function joinParts({ literals, placeholders }: SplitText, write: Write): TextTemplate {
  return {
    placeholders: placeholders.length,
    render(data, rendering) {
      let rendered = literals[0] as string
      for (let n = 0; n < placeholders.length; n++)
        rendered += resolveText(placeholders[n] as Placeholder, data, rendering, write) + literals[n + 1]
      return rendered
    },
  }
}

function resolveText(placeholder: Placeholder, data: unknown, rendering: Rendering, write: Write): string {
  const value = resolve(placeholder, data, rendering)
  if (value === undefined) return ''
  const text = write(value)
  rendering.size += text.length
  return rendering.size > maxRenderedLength ? '' : text
}

function resolveValue(placeholder: Placeholder, data: unknown, rendering: Rendering): unknown {
  const value = resolve(placeholder, data, rendering)
  if (value === undefined) return ''
  if (typeof value === 'string') rendering.size += value.length
  else if (typeof value === 'object' && value !== null) rendering.size += writeText(value).length
  return rendering.size > maxRenderedLength ? '' : value
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
    // Only data that never was JSON comes here (a getter that throws, a cycle): what cannot be read is missing.
    return undefined
  }
}

/** By itself, so that a placeholder without filters does not pay for what `warn` remembers. */
function applyFilters({ name, filters }: Placeholder, value: unknown, rendering: Rendering): unknown {
  const warn = (message: string) => warnOnce(rendering, `${name} ${message}`)
  let filtered = value
  for (const filter of filters) {
    if (typeof filtered === 'string' && filtered.length > maxRenderedLength) break
    filtered = filter(filtered, warn)
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
  /** What stands before each placeholder, and what stands after the last. */
  literals: string[]
  placeholders: Placeholder[]
}

/** Splits a text into literals and placeholders, or says what is wrong with it. Reads each character once. */
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
