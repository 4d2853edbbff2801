import { type JsonTree, parseJsonTree, readAsJavaScript } from './json-tree.js'

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
  for (const { name, text } of listForms(body, tree)) {
    if (!names.has(text)) names.set(text, name)
    written += text.length
    if (written > maxWrittenCharacters) break
  }
  names.delete(body.toString())
  return [...names].map(([text, name]) => ({ name, text }))
}

/** With repeats. */
function* listForms(body: Buffer, tree: JsonTree): Generator<JsonForm> {
  const sent = body.toString()
  const lines = sent.replaceAll('\r\n', '\n')
  yield { name: 'the same text with LF as its line breaks', text: lines }
  yield { name: 'the same text with CRLF as its line breaks', text: lines.replaceAll('\n', '\r\n') }
  const read = readAsJavaScript(body)
  // Most bodies are read as they are written.
  const isSame = write(read, compact) === write(tree, compact)
  for (const style of styles) {
    yield { name: style.name, text: write(tree, style) }
    if (!isSame) yield { name: style.name + asRead, text: write(read, style) }
  }
}

const asRead = ', with numbers and keys as JavaScript reads them'

const tight = { name: 'compact', comma: ',', colon: ':', indent: '', lineBreak: '' }
const spacings = [
  tight,
  { name: "spaced as Python's json.dumps does", comma: ', ', colon: ': ', indent: '', lineBreak: '' },
  { name: 'indented by 2 spaces', comma: ',', colon: ': ', indent: '  ', lineBreak: '\n' },
  { name: 'indented by 4 spaces', comma: ',', colon: ': ', indent: '    ', lineBreak: '\n' },
]
const unescaped = { name: '', escaped: /(?!)/g }
// The defaults of Python, PHP and Go.
const escapings = [
  unescaped,
  { name: ', with non-ASCII letters escaped', escaped: /[\u007f-\uffff]/g },
  { name: ', with slashes and non-ASCII letters escaped', escaped: /[/\u0080-\uffff]/g },
  { name: ', with <, > and & escaped', escaped: /[<>&\u2028\u2029]/g },
]
const unsorted = { name: '', isSorted: false }
const orders = [unsorted, { name: ', with its keys sorted', isSorted: true }]

type Style = (typeof spacings)[number] & (typeof escapings)[number] & (typeof orders)[number]

const styles: Style[] = orders.flatMap((order) =>
  escapings.flatMap((escaping) =>
    spacings.map((spacing) => {
      const name = spacing.name + escaping.name + order.name
      return { ...spacing, ...escaping, ...order, name }
    }),
  ),
)
// Of Windows. They are no spacings, since each further style costs attempts at combined mistakes.
for (const spacing of spacings.filter(({ lineBreak }) => lineBreak !== '')) {
  const name = `${spacing.name}, with CRLF as its line breaks`
  styles.push({ ...spacing, ...unescaped, ...unsorted, name, lineBreak: '\r\n' })
}
const compact: Style = { ...unescaped, ...unsorted, ...tight }

function write(tree: JsonTree, style: Style, lineBreak = style.lineBreak): string {
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
