import { fieldOf } from '../filters/filter.js'
import { fieldFilters } from '../filters/index.js'
import { credentialRoot } from './credential.js'
import {
  evaluate,
  fillText,
  fillTextField,
  fillValue,
  type Rendering,
  type Write,
  writeText,
} from './fill-placeholder.js'
import type { FilterCall, Placeholder } from './placeholder.js'
import { type Accepted, findOnly, type SplitText, splitLoops, splitTemplate } from './split-template.js'

/** Renders a template with event data. Never throws, and never renders its own output again. */
export type Render = (data: unknown, rendering: Rendering) => unknown

export interface Template {
  /** The number of placeholders. With none, `render` always returns `constant`. */
  readonly placeholders: number
  readonly constant?: unknown
  /** The placeholders of a text. */
  readonly parts?: readonly Placeholder[]
  /** Those that are filled for each item of a list. */
  readonly itemParts?: readonly Placeholder[]
  /** The paths of these lists. */
  readonly lists?: readonly string[]
  /** Whether the text is one placeholder and nothing else. */
  readonly isWhole?: boolean
  /** The templates within an object or a list, by their key. */
  readonly entries?: readonly (readonly [key: string, template: Template])[]
  readonly render: Render
}

export interface TextTemplate extends Template {
  readonly render: (data: unknown, rendering: Rendering) => string
}

/** Applied to what a placeholder writes, and to nothing that the author wrote. */
export type Quote = (text: string) => string

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
export function compileTemplate(text: string, accepted?: Accepted): Template | string {
  const split = splitTemplate(text, accepted)
  if (typeof split === 'string') return split
  const only = findOnly(split)
  return only === undefined
    ? joinOrConstant(split, () => writeText)
    : wholeTemplate(only, (data, rendering) => fillValue(only, data, rendering))
}

/** Like compileTemplate for a field that holds a text: a single placeholder writes numbers, booleans and null as text, too. */
export function compileTextField(text: string, accepted?: Accepted): Template | string {
  const split = splitTemplate(text, accepted)
  return typeof split === 'string' ? split : joinTextField(split, () => writeText)
}

/** Like compileTemplate, but it always renders a text. */
export function compileText(text: string, quote: Quote): TextTemplate | string {
  const split = splitTemplate(text)
  return typeof split === 'string' ? split : joinParts(split, () => (value) => quote(writeText(value)))
}

/** A placeholder of a text, for tools that read rules. */
export interface PlaceholderUse {
  /** The path as written. */
  readonly path: string
  readonly filters: readonly FilterCall[]
  /** The paths of fields that `default` falls back to. */
  readonly fallbacks: readonly string[]
  /** All paths that are read: its own, and those of the arguments of filters. */
  readonly reads: readonly string[]
  /** Whether the text is this placeholder and nothing else. */
  readonly isWhole: boolean
}

/**
 * Lists the placeholders of a text that read event data; none for a text with a fault. What is read of the items of a list that it prints is
 * not listed.
 */
export function listPlaceholderUses(text: string): PlaceholderUse[] {
  const split = splitLoops(text, anything)
  if (typeof split === 'string') return []
  const { head, loops } = split
  const isWhole = loops.length === 0 && findOnly(head) !== undefined
  return [
    ...readers(head).map((placeholder) => useOf(placeholder, isWhole)),
    ...loops.flatMap(({ name, body, tail }) => [
      { path: name, filters: [], fallbacks: [], reads: [name], isWhole: false },
      ...readers(body).map((placeholder) => withoutItem(useOf(placeholder, false))),
      ...readers(tail).map((placeholder) => useOf(placeholder, false)),
    ]),
  ]
}

/** For tools, which read rules without faults. */
const anything: Accepted = { raw: true, credentials: true }

function readers({ placeholders }: SplitText): Placeholder[] {
  return placeholders.filter(({ credential }) => credential === undefined)
}

/** A credential in a text. */
export interface CredentialInText {
  readonly name: string
  /** Whether the text is this credential and nothing else. */
  readonly isWhole: boolean
}

/** Lists the credentials of a text; none for a text with a fault. */
export function listCredentials(text: string): CredentialInText[] {
  if (!text.includes(credentialRoot)) return []
  const split = splitTemplate(text, anything)
  if (typeof split === 'string') return []
  const isWhole = findOnly(split) !== undefined
  return split.placeholders.flatMap(({ credential }) =>
    credential === undefined ? [] : [{ name: credential, isWhole }],
  )
}

function useOf({ name, calls }: Placeholder, isWhole: boolean): PlaceholderUse {
  return {
    path: name,
    filters: calls,
    fallbacks: calls.filter((call) => call.name === 'default').flatMap(listFields),
    reads: readsOf({ name, calls }),
    isWhole,
  }
}

/** All paths that a placeholder reads. */
export function readsOf({ name, calls }: Pick<Placeholder, 'name' | 'calls'>): string[] {
  return [name, ...calls.flatMap(listFields)]
}

/** Where `item` is the item of a list: what is read of it is not read of the event. */
export function withoutItem(use: PlaceholderUse): PlaceholderUse {
  const ofEvent = (path: string) => !/^item(?:[.[]|$)/.test(path)
  return { ...use, fallbacks: use.fallbacks.filter(ofEvent), reads: use.reads.filter(ofEvent) }
}

function listFields({ name, argument }: FilterCall): string[] {
  const field = fieldFilters.has(name) && argument ? fieldOf(argument) : undefined
  return field === undefined ? [] : [field]
}

/**
 * Describes the placeholders that render as nothing, and a whole one that is a list or an object: `{{email}} is missing`,
 * `{{tags}} is a list`.
 */
export function describeUnfit({ parts = [], entries = [], isWhole }: Template, data: unknown): string[] {
  const found = parts.flatMap((placeholder) => {
    const state = describeValue(evaluate(placeholder, data, { warnings: [], size: 0 }), isWhole)
    return state === undefined ? [] : [`{{${placeholder.name}}} is ${state}`]
  })
  return [...new Set([...found, ...entries.flatMap(([, template]) => describeUnfit(template, data))])]
}

function describeValue(value: unknown, isWhole = false): string | undefined {
  if (value === undefined || value === null || value === '') return describeNothing(value)
  if (!isWhole || typeof value !== 'object') return undefined
  return Array.isArray(value) ? 'a list' : 'an object'
}

/** Says how a value is nothing. */
export function describeNothing(value: unknown): string {
  return value === undefined ? 'missing' : value === null ? 'null' : 'empty'
}

function wholeTemplate(only: Placeholder, render: Render): Template {
  return { placeholders: 1, parts: [only], isWhole: true, render }
}

export type FindWrite = (placeholder: Placeholder, index: number) => Write

export function joinTextField(split: SplitText, findWrite: FindWrite): Template {
  const only = findOnly(split)
  if (only === undefined) return joinOrConstant(split, findWrite)
  const write = findWrite(only, 0)
  return wholeTemplate(only, (data, rendering) => fillTextField(only, data, rendering, write))
}

/** A text without placeholders is the same for all data. */
function joinOrConstant(split: SplitText, findWrite: FindWrite): Template {
  return split.placeholders.length === 0
    ? constantTemplate(split.literals.join(''))
    : joinParts(split, findWrite)
}

export function joinParts({ literals, placeholders }: SplitText, findWrite: FindWrite): TextTemplate {
  const writes = placeholders.map(findWrite)
  return {
    placeholders: placeholders.length,
    parts: placeholders,
    render(data, rendering) {
      let rendered = literals[0] as string
      for (let n = 0; n < placeholders.length; n++)
        rendered +=
          fillText(placeholders[n] as Placeholder, data, rendering, writes[n] as Write) + literals[n + 1]
      return rendered
    },
  }
}
