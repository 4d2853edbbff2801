/** JSON as it is written: parsing would turn 1.0 into 1 and could change the order of keys. */
export type JsonTree =
  | { literal: string }
  | { text: string }
  | { items: JsonTree[] }
  | { members: [string, JsonTree][] }

const maxDepth = 32
const maxTokens = 20_000

/** Returns undefined for a body that is not JSON in UTF-8, or that is too large or too deep. */
export function parseJsonTree(body: Buffer): JsonTree | undefined {
  const source = decodeJson(body)
  // In valid JSON, only strings, brackets and literals matter.
  const tokens = source?.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]|[^\s,:[\]{}"]+/g) ?? []
  if (tokens.length > maxTokens || measureDepth(tokens) > maxDepth) return undefined
  return readTree(tokens.reverse())
}

/** The tree as JSON.parse reads it: numbers as doubles, the last of repeated keys, and keys that are whole numbers first. */
export function readAsJavaScript(body: Buffer): JsonTree {
  return toTree(JSON.parse(new TextDecoder().decode(body)))
}

function toTree(value: unknown): JsonTree {
  if (typeof value === 'string') return { text: value }
  if (typeof value !== 'object' || value === null) return { literal: JSON.stringify(value) }
  if (Array.isArray(value)) return { items: value.map(toTree) }
  return { members: Object.entries(value).map(([key, member]) => [key, toTree(member)]) }
}

function decodeJson(body: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    JSON.parse(text)
    return text
  } catch {
    return undefined
  }
}

function measureDepth(tokens: string[]): number {
  let depth = 0
  let deepest = 0
  for (const token of tokens) {
    if (token === '[' || token === '{') depth++
    if (token === ']' || token === '}') depth--
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

/** Takes its tokens from the end of the reversed list; undefined at a closing bracket. */
function readTree(tokens: string[]): JsonTree | undefined {
  const token = tokens.pop()
  if (token === undefined || token === ']' || token === '}') return undefined
  if (token.startsWith('"')) return { text: JSON.parse(token) as string }
  if (token !== '[' && token !== '{') return { literal: token }
  const children: JsonTree[] = []
  for (let child = readTree(tokens); child; child = readTree(tokens)) children.push(child)
  return token === '[' ? { items: children } : { members: pairUp(children) }
}

function pairUp(children: JsonTree[]): [string, JsonTree][] {
  const members: [string, JsonTree][] = []
  for (const [index, value] of children.entries()) {
    const key = children[index - 1]
    if (index % 2 === 1 && key && 'text' in key) members.push([key.text, value])
  }
  return members
}
