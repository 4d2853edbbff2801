/** The place in a text from which on it is no JSON, both from 1. */
export interface JsonFault {
  line: number
  column: number
  expected: string
}

type Wanted = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'next'

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them within strings.
const special = /["\\\u0000-\u001f]/g

/** Finds where a text stops being JSON. JSON.parse says so only for some faults. undefined for JSON. */
export function findJsonFault(text: string): JsonFault | undefined {
  const scanned = scan(text)
  if (scanned === undefined) return undefined
  const before = text.slice(0, scanned.at).split('\n')
  return {
    line: before.length,
    column: (before.at(-1) as string).length + 1,
    expected: scanned.expected,
  }
}

/** The names of what is open are on a list of its own: nested calls would end at some depth. */
function scan(text: string): { at: number; expected: string } | undefined {
  const open: ('{' | '[')[] = []
  let wanted: Wanted = 'value'
  let at = 0
  for (;;) {
    at = skipSpace(text, at)
    const character = text[at]
    const inside = open.at(-1)
    if (wanted === 'next') {
      if (inside === undefined)
        return character === undefined ? undefined : { at, expected: 'the end of the text' }
      const close = inside === '{' ? '}' : ']'
      if (character === close) open.pop()
      else if (character === ',') wanted = inside === '{' ? 'name' : 'value'
      else return { at, expected: `a comma or ${close}` }
      at++
    } else if (wanted === 'colon') {
      if (character !== ':') return { at, expected: 'a colon' }
      wanted = 'value'
      at++
    } else if (isClosed(wanted, character)) {
      open.pop()
      wanted = 'next'
      at++
    } else if (wanted === 'name' || wanted === 'name or }') {
      if (character !== '"') return { at, expected: `a ${wanted.replace('name', 'name in double quotes')}` }
      const string = readString(text, at)
      if ('expected' in string) return string
      at = string.end
      wanted = 'colon'
    } else if (character === '{' || character === '[') {
      open.push(character)
      wanted = character === '{' ? 'name or }' : 'value or ]'
      at++
    } else {
      const read = character === '"' ? readString(text, at) : readScalar(text, at, wanted)
      if ('expected' in read) return read
      at = read.end
      wanted = 'next'
    }
  }
}

function isClosed(wanted: Wanted, character: string | undefined): boolean {
  return (wanted === 'value or ]' && character === ']') || (wanted === 'name or }' && character === '}')
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (' \t\n\r'.includes(text[at] ?? 'x')) at++
  return at
}

type Read = { end: number } | { at: number; expected: string }

function readScalar(text: string, at: number, wanted: Wanted): Read {
  scalar.lastIndex = at
  return scalar.test(text) ? { end: scalar.lastIndex } : { at, expected: `a ${wanted}` }
}

function readString(text: string, start: number): Read {
  let from = start + 1
  for (;;) {
    special.lastIndex = from
    const found = special.exec(text)
    if (found === null) return { at: text.length, expected: 'the closing quote of a string' }
    const at = found.index
    if (found[0] === '"') return { end: at + 1 }
    if (found[0] !== '\\') return { at, expected: 'an escape such as \\n, and no control character' }
    escaped.lastIndex = at
    if (!escaped.test(text)) return { at, expected: 'an escape such as \\n' }
    from = escaped.lastIndex
  }
}
