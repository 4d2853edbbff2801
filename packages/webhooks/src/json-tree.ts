/** JSON as it is written: a parsed number would forget that it was 1.0, a parsed object the order of its keys. */
export type JsonTree =
  | { literal: string }
  | { text: string }
  | { items: JsonTree[] }
  | { members: [string, JsonTree][] }

const maxDepth = 32
const maxTokens = 20_000

/** undefined for what is no JSON in UTF-8, or too large or too deep. */
export function parseJsonTree(body: Buffer): JsonTree | undefined {
  const source = decodeJson(body)
  // Of valid JSON, texts, brackets and literals are all that has to be looked at.
  const tokens = source?.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]|[^\s,:[\]{}"]+/g) ?? []
  if (tokens.length > maxTokens || measureDepth(tokens) > maxDepth) return undefined
  return readTree(tokens.reverse())
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
  for (const [at, value] of children.entries()) {
    const key = children[at - 1]
    if (at % 2 === 1 && key && 'text' in key) members.push([key.text, value])
  }
  return members
}
