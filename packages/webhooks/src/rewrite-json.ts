import { type JsonTree, parseJsonTree } from './json-tree.js'

/** Another serialisation of the same JSON. */
export interface JsonForm {
  /** Continues the sentence "what was signed is …". */
  name: string
  text: string
}

const maxBodyBytes = 128 * 1024
/** No more forms are written once their total length exceeds this. */
const maxWrittenCharacters = 1024 * 1024

/**
 * The body as other JSON serialisers write it: the likeliest first, each text once, and never the body itself. The list is
 * empty for a body that is not JSON, or that is too large or too deep.
 */
export function rewriteJson(body: Buffer): JsonForm[] {
  const tree = body.length <= maxBodyBytes ? parseJsonTree(body) : undefined
  if (tree === undefined) return []
  const names = new Map<string, string>()
  let written = 0
  for (const style of styles) {
    const text = write(tree, style, '\n')
    if (!names.has(text)) names.set(text, style.name)
    written += text.length
    if (written > maxWrittenCharacters) break
  }
  names.delete(body.toString())
  return [...names].map(([text, name]) => ({ name, text }))
}

const spacings = [
  { name: 'compact', comma: ',', colon: ':', indent: '' },
  { name: "spaced as Python's json.dumps does", comma: ', ', colon: ': ', indent: '' },
  { name: 'indented by 2 spaces', comma: ',', colon: ': ', indent: '  ' },
  { name: 'indented by 4 spaces', comma: ',', colon: ': ', indent: '    ' },
]
// The defaults of Python, PHP and Go.
const escapings = [
  { name: '', escaped: /(?!)/g },
  { name: ', with non-ASCII letters escaped', escaped: /[\u007f-\uffff]/g },
  { name: ', with slashes and non-ASCII letters escaped', escaped: /[/\u0080-\uffff]/g },
  { name: ', with <, > and & escaped', escaped: /[<>&\u2028\u2029]/g },
]
const orders = [
  { name: '', isSorted: false },
  { name: ', with its keys sorted', isSorted: true },
]

type Style = (typeof spacings)[number] & (typeof escapings)[number] & (typeof orders)[number]

const styles: Style[] = orders.flatMap((order) =>
  escapings.flatMap((escaping) =>
    spacings.map((spacing) => {
      const name = spacing.name + escaping.name + order.name
      return { ...spacing, ...escaping, ...order, name }
    }),
  ),
)

function write(tree: JsonTree, style: Style, lineBreak: string): string {
  if ('literal' in tree) return tree.literal
  if ('text' in tree) return quote(tree.text, style)
  const inner = lineBreak + style.indent
  if ('items' in tree) {
    const items = tree.items.map((item) => write(item, style, inner))
    return `[${join(items, style, lineBreak)}]`
  }
  const sorted = style.isSorted ? tree.members.toSorted(compareKeys) : tree.members
  const members = sorted.map(([key, value]) => quote(key, style) + style.colon + write(value, style, inner))
  return `{${join(members, style, lineBreak)}}`
}

function join(parts: string[], { comma, indent }: Style, lineBreak: string): string {
  if (indent === '' || parts.length === 0) return parts.join(comma)
  const inner = lineBreak + indent
  return inner + parts.join(comma + inner) + lineBreak
}

function quote(text: string, { escaped }: Style): string {
  return JSON.stringify(text).replace(escaped, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return character === '/' ? '\\/' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function compareKeys([one]: [string, JsonTree], [other]: [string, JsonTree]): number {
  return one < other ? -1 : Number(one > other)
}
