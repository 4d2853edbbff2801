import type { Filtering } from '../filters/filter.js'
import { ZonedTime } from '../times/zoned-time.js'
import { findDeadEnd } from '../values/dead-end.js'
import { readPath } from '../values/path.js'
import { maxRenderedLength, toText } from '../values/to-text.js'
import type { Evaluation } from '../work/evaluation.js'
import { type CredentialValues, writeReference } from './credential.js'
import type { Placeholder } from './placeholder.js'

/** The state of rendering one config: its warnings, and the number of characters written so far. */
export interface Rendering {
  warnings: string[]
  size: number
  /** Why the rendered config must not be used: the first reason. */
  fault?: string
  /** The values of credentials, at the moment of a call. Without them each stays as it is written: what is stored or shown has no value. */
  credentials?: CredentialValues
  /** To it the work of filters and of writing values is charged. */
  evaluation?: Evaluation
}

/** Units of work for a character that a filter reads, or that a filter or JSON writes. */
const workPerCharacter = 0.5

/** Writes a value, which is not missing, as text, and charges the work that this takes beyond reading it. */
export type Write = (value: unknown, rendering: Rendering) => string

/** Fills a placeholder within a text. Missing values are nothing, with a warning. */
export function fillText(
  placeholder: Placeholder,
  data: unknown,
  rendering: Rendering,
  write: Write,
): string {
  if (isOver(rendering)) return ''
  return writeInto(rendering, resolve(placeholder, data, rendering), write)
}

/** Fills a placeholder that is all of a field which holds a text. A list or an object stays, so that the field refuses it. */
export function fillTextField(
  placeholder: Placeholder,
  data: unknown,
  rendering: Rendering,
  write: Write,
): unknown {
  if (isOver(rendering)) return ''
  const value = resolve(placeholder, data, rendering)
  return typeof value === 'object' && value !== null ? value : writeInto(rendering, value, write)
}

/** Fills a placeholder that is all of a text, and keeps the type of the value. */
export function fillValue(placeholder: Placeholder, data: unknown, rendering: Rendering): unknown {
  if (isOver(rendering)) return ''
  const value = resolve(placeholder, data, rendering)
  if (value === undefined) return ''
  if (typeof value === 'string') rendering.size += value.length
  else if (typeof value === 'object' && value !== null) {
    const { length } = writeText(value)
    rendering.size += length
    rendering.evaluation?.charge(length * workPerCharacter)
  }
  return rendering.size > maxRenderedLength ? '' : value
}

function writeInto(rendering: Rendering, value: unknown, write: Write): string {
  if (value === undefined) return ''
  const text = write(value, rendering)
  rendering.size += text.length
  if (typeof value === 'object') rendering.evaluation?.charge(text.length * workPerCharacter)
  return rendering.size > maxRenderedLength ? '' : text
}

/** True if nothing more is rendered: the action fails in any case. */
export function isOver({ size, evaluation }: Rendering): boolean {
  return size > maxRenderedLength || (evaluation !== undefined && !evaluation.affords(0))
}

function resolve(placeholder: Placeholder, data: unknown, rendering: Rendering): unknown {
  const value = evaluate(placeholder, data, rendering)
  if (value !== undefined) return value
  const end = findDeadEnd(placeholder.path, data)
  warnOnce(rendering, `${placeholder.name} is missing${end === undefined ? '' : `, since ${end}`}`)
  return undefined
}

/** Reads the value of a placeholder and applies its filters. Never throws. */
export function evaluate(placeholder: Placeholder, data: unknown, rendering: Rendering): unknown {
  const { credential } = placeholder
  if (credential !== undefined) return rendering.credentials?.get(credential) ?? writeReference(credential)
  try {
    const value = readPath(placeholder.path, data)
    return placeholder.filters.length === 0 ? value : applyFilters(placeholder, value, data, rendering)
  } catch {
    // Only data that was never JSON can throw here (through a getter or a cycle). A value that cannot be read is missing.
    return undefined
  }
}

/** A separate function, so that a placeholder without filters does not pay for the closures of its filters. */
function applyFilters(
  { name, filters }: Placeholder,
  value: unknown,
  data: unknown,
  rendering: Rendering,
): unknown {
  let filtered = value
  let read = 0
  const filtering: Filtering = {
    warn: (message) => warnOnce(rendering, `${name} ${message}`),
    write(input) {
      const text = toText(input)
      read = text.length
      return text
    },
    charge: (units) => rendering.evaluation?.charge(units),
    data,
  }
  for (const filter of filters) {
    if (typeof filtered === 'string' && filtered.length > maxRenderedLength) break
    read = 0
    filtered = filter(filtered, filtering)
    const written = typeof filtered === 'string' ? filtered.length : 0
    rendering.evaluation?.charge(Math.max(read, written) * workPerCharacter)
    if (isOver(rendering)) break
  }
  return filtered instanceof ZonedTime ? filtered.toJSON() : filtered
}

/** Writes a value as text, and one that cannot be written as nothing. */
export function writeText(value: unknown): string {
  try {
    return toText(value)
  } catch {
    return ''
  }
}

export function warnOnce(rendering: Rendering, warning: string): void {
  if (!rendering.warnings.includes(warning)) rendering.warnings.push(warning)
}
