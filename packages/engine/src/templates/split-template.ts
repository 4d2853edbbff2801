import { cutText } from '../texts/cut-text.js'
import { compilePath, type Path, parsePath } from '../values/path.js'
import { isReserved } from './credential.js'
import { type Placeholder, parsePlaceholder } from './placeholder.js'

/** A text, split into literals and placeholders. */
export interface SplitText {
  /** The text before each placeholder, and after the last one. */
  literals: string[]
  placeholders: Placeholder[]
}

/** What may stand in a text beside placeholders of event data. */
export interface Accepted {
  /** Whether the filter raw has a meaning there. */
  raw?: boolean
  credentials?: boolean
}

/** Splits a text into literals and placeholders, or describes its fault. Reads each character once. */
export function splitTemplate(text: string, accepted: Accepted = {}): SplitText | string {
  const read = readPart(text, 0, { ...accepted, each: false })
  return typeof read === 'string' ? read : read.part
}

/** A text with the lists that it prints: what is before the first, and each with what is behind it. */
export interface LoopText {
  readonly head: SplitText
  readonly loops: readonly Loop[]
}

/** `{{#each items}}…{{/each}}`: what is within is written for each item. */
export interface Loop {
  /** The path of the list as written. */
  readonly name: string
  readonly path: Path
  readonly body: SplitText
  readonly tail: SplitText
}

/** Like splitTemplate, for a text that may print lists. */
export function splitLoops(text: string, accepted: Accepted = {}): LoopText | string {
  const syntax = { ...accepted, each: true }
  let read = readPart(text, 0, syntax)
  if (typeof read === 'string') return read
  const { part: head } = read
  const loops: Loop[] = []
  while (read.tag !== undefined) {
    const { name, end } = read.tag
    if (name === undefined) return 'has {{/each}} without its {{#each}}'
    if (!parsePath(name))
      return `has {{#each ${cutText(name, 60)}}}, which needs the path of a list: {{#each items}}`
    if (isReserved(name)) return 'has {{#each credentials}}, but credentials are no event data'
    const body = readPart(text, end, syntax)
    if (typeof body === 'string') return body
    if (body.tag === undefined) return `has {{#each ${name}}} without its {{/each}}`
    if (body.tag.name !== undefined)
      return 'has {{#each}} within {{#each}}: a list within a list cannot be printed'
    read = readPart(text, body.tag.end, syntax)
    if (typeof read === 'string') return read
    loops.push({ name, path: compilePath(name), body: body.part, tail: read.part })
  }
  return { head, loops }
}

interface Syntax extends Accepted {
  /** Whether it may print lists. */
  each: boolean
}

/** `{{#each items}}`, or `{{/each}}` without a name. */
interface Tag {
  name?: string
  end: number
}

/** Reads up to the next tag, or to the end. */
function readPart(text: string, from: number, syntax: Syntax): { part: SplitText; tag?: Tag } | string {
  const literals: string[] = []
  const placeholders: Placeholder[] = []
  let literal = ''
  let at = from
  for (let open = text.indexOf('{{', at); open >= 0; open = text.indexOf('{{', at)) {
    if (text[open - 1] === '\\' && open > at) {
      literal += `${text.slice(at, open - 1)}{{`
      at = open + 2
      continue
    }
    const tag = syntax.each ? readTag(text, open) : undefined
    if (typeof tag === 'string') return tag
    if (tag !== undefined) {
      const line = findOwnLine(text, open, tag.end)
      literals.push(literal + text.slice(at, line?.start ?? open))
      return { part: { literals, placeholders }, tag: { ...tag, end: line?.end ?? tag.end } }
    }
    const found = parsePlaceholder(text, open)
    if (typeof found === 'string') return found
    if (!syntax.raw && isRaw(found.placeholder))
      return 'has a filter raw, which only the text of SEND_NOTIFICATION accepts'
    if (!syntax.credentials && found.placeholder.credential !== undefined)
      return `has {{${found.placeholder.name}}}: only the URL, headers and body of SEND_WEBHOOK and the URL of SEND_NOTIFICATION accept credentials`
    literals.push(literal + text.slice(at, open))
    placeholders.push(found.placeholder)
    literal = ''
    at = found.end
  }
  literals.push(literal + text.slice(at))
  return { part: { literals, placeholders } }
}

/** A tag alone on its line leaves no empty line, as in Mustache: the line goes with it. */
function findOwnLine(text: string, open: number, end: number): { start: number; end: number } | undefined {
  let start = open
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start--
  if (start > 0 && text[start - 1] !== '\n') return undefined
  let stop = end
  while (text[stop] === ' ' || text[stop] === '\t') stop++
  if (stop === text.length) return { start, end: stop }
  if (text.startsWith('\r\n', stop)) return { start, end: stop + 2 }
  return text[stop] === '\n' ? { start, end: stop + 1 } : undefined
}

function readTag(text: string, open: number): Tag | string | undefined {
  const start = /\{\{\s*([#/])each(?![^\s}])/y
  start.lastIndex = open
  const [, kind] = start.exec(text) ?? []
  if (kind === undefined) return undefined
  const stop = text.indexOf('}}', start.lastIndex)
  if (stop < 0) return 'has a placeholder without its closing }}'
  const name = text.slice(start.lastIndex, stop).trim()
  if (kind === '#') return { name, end: stop + 2 }
  return name === '' ? { end: stop + 2 } : `has {{/each ${cutText(name, 60)}}}: it has to be {{/each}}`
}

/** The placeholder that is all of the text. */
export function findOnly({ literals, placeholders }: SplitText): Placeholder | undefined {
  return placeholders.length === 1 && literals.join('') === '' ? placeholders[0] : undefined
}

export function isRaw({ calls }: Placeholder): boolean {
  return calls.at(-1)?.name === 'raw'
}
