/** Another serialisation of the same JSON. */
interface JsonForm {
  /** Continues the sentence "what was signed is …". */
  name: string
  text: string
}

const maxBodyBytes = 128 * 1024
const maxDepth = 32
const maxTokens = 20_000
/** No more forms are written once their total length exceeds this. */
const maxWrittenCharacters = 1024 * 1024

/**
 * The body as other JSON serialisers write it: the likeliest first, each text once, and never the body itself. The list is
 * empty for a body that is not JSON, or that is too large or too deep.
 */
export function rewriteJson(body: Buffer): JsonForm[] {
  const json = body.length <= maxBodyBytes ? readJson(body) : undefined
  if (json === undefined) return []
  const names = new Map<string, string>()
  let written = 0
  for (const { name, text } of listForms(json)) {
    if (!names.has(text)) names.set(text, name)
    written += text.length
    if (written > maxWrittenCharacters) break
  }
  names.delete(body.toString())
  return [...names].map(([text, name]) => ({ name, text }))
}

interface ReadJson {
  text: string
  /** With numbers as they are written: parsing turns 1.0 into 1. */
  exact: unknown
  parsed: unknown
}

function readJson(body: Buffer): ReadJson | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    const parsed = JSON.parse(text)
    return { text, parsed, exact: JSON.parse(quoteNumbers(text)) }
  } catch {
    return undefined
  }
}

/** @param text valid JSON @throws RangeError where it is too large or too deep */
function quoteNumbers(text: string): string {
  let tokens = 0
  let depth = 0
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g, (token) => {
    if (token === '[' || token === '{') depth++
    if (token === ']' || token === '}') depth--
    if (++tokens > maxTokens || depth > maxDepth) throw new RangeError('The JSON is too large or too deep')
    return /^[-\d]/.test(token) ? `"\\u0001${token}"` : token
  })
}

/** A text that begins with that character loses its quotes, too: it is then in none of the forms. */
function unquoteNumbers(json: string): string {
  return json.replace(/"\\u0001([^"]*)"/g, '$1')
}

/** With repeats. */
function* listForms({ text, exact, parsed }: ReadJson): Generator<JsonForm> {
  const lines = text.replaceAll('\r\n', '\n')
  yield { name: 'the same text with LF as its line breaks', text: lines }
  yield { name: 'the same text with CRLF as its line breaks', text: lines.replaceAll('\n', '\r\n') }
  // Most bodies are read as they are written.
  const isSame = unquoteNumbers(JSON.stringify(exact)) === JSON.stringify(parsed)
  for (const { name, write } of styles) {
    yield { name, text: unquoteNumbers(write(exact)) }
    if (!isSame) yield { name: `${name}, with numbers as JavaScript reads them`, text: write(parsed) }
  }
}

type Write = (value: unknown) => string

const indent =
  (spaces: number): Write =>
  (value) =>
    JSON.stringify(value, null, spaces)
const withCrlf =
  (write: Write): Write =>
  (value) =>
    write(value).replaceAll('\n', '\r\n')

const spacings: { name: string; write: Write }[] = [
  { name: 'compact', write: (value) => JSON.stringify(value) },
  {
    name: "spaced as Python's json.dumps does",
    write: (value) => indent(1)(value).replace(/,\n */g, ', ').replace(/\n */g, ''),
  },
  { name: 'indented by 2 spaces', write: indent(2) },
  { name: 'indented by 4 spaces', write: indent(4) },
  { name: 'indented by 2 spaces, with CRLF as its line breaks', write: withCrlf(indent(2)) },
  { name: 'indented by 4 spaces, with CRLF as its line breaks', write: withCrlf(indent(4)) },
]
// The defaults of Python, PHP and Go.
const escapings = [
  { name: '', escaped: /(?!)/g },
  { name: ', with non-ASCII letters escaped', escaped: /[\u007f-\uffff]/g },
  { name: ', with slashes and non-ASCII letters escaped', escaped: /[/\u0080-\uffff]/g },
  { name: ', with <, > and & escaped', escaped: /[<>&\u2028\u2029]/g },
]
const orders = [
  { name: '', arrange: (value: unknown) => value },
  { name: ', with its keys sorted', arrange: sortKeys },
]

const styles = orders.flatMap((order) =>
  escapings.flatMap(({ name, escaped }) =>
    spacings.map((spacing) => ({
      name: spacing.name + name + order.name,
      write: (value: unknown) => spacing.write(order.arrange(value)).replace(escaped, escapeCharacter),
    })),
  ),
)

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortKeys)
  const entries = Object.entries(value).map(([key, member]) => [key, sortKeys(member)] as const)
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
}

function escapeCharacter(character: string): string {
  return character === '/' ? '\\/' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
