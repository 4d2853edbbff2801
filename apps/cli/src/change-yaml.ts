import { isDeepStrictEqual } from 'node:util'
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

/**
 * Changes a YAML document where it differs from a value: comments, anchors, empty lines, order and notation of all else stay.
 *
 * @returns undefined if that cannot be done
 */
export function changeDocument(text: string, value: object): Document.Parsed | undefined {
  const document = parseDocument(text, {
    compat: 'yaml-1.1',
    merge: true,
    resolveKnownTags: false,
    logLevel: 'error',
  })
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined
  // A changed anchor changes what refers to it, which the next round corrects.
  for (let round = 0; round < 3; round++) {
    document.contents = change(document, document.contents, value) as ParsedNode
    if (isDeepStrictEqual(readNode(document, document.contents), value)) return document
  }
  return undefined
}

/** Without the line for editors, which each export writes. */
export function countComments(text: string): number {
  const comments = [...new Lexer().lex(text)].filter((token) => token.startsWith('#'))
  return comments.filter((comment) => !comment.startsWith('# yaml-language-server:')).length
}

export function hasAnchors(text: string): boolean {
  return [...new Lexer().lex(text)].some((token) => /^&./.test(token))
}

function change(document: Document, node: unknown, value: unknown): unknown {
  if (isNode(node) && isDeepStrictEqual(readNode(document, node), value)) return node
  if (isMap(node) && isObject(value)) changeMap(document, node, value)
  else if (isSeq(node) && Array.isArray(value)) changeList(document, node, value)
  else return replace(document, node, value)
  return node
}

function changeMap(document: Document, map: YAMLMap, value: Record<string, unknown>): void {
  const keyOf = (pair: Pair) => String(isScalar(pair.key) ? pair.key.value : pair.key)
  map.items = map.items.filter((pair) => Object.hasOwn(value, keyOf(pair)))
  let place = 0
  for (const [key, part] of Object.entries(value)) {
    const at = map.items.findIndex((pair) => keyOf(pair) === key)
    const pair = map.items[at]
    if (pair !== undefined) pair.value = change(document, pair.value, part)
    else map.items.splice(place, 0, document.createPair(key, part, { aliasDuplicateObjects: false }))
    place = (pair === undefined ? place : at) + 1
  }
}

/** Items are in the order of the value, and each keeps what stands at it. */
function changeList(document: Document, list: YAMLSeq, value: unknown[]): void {
  // What stands above the first item stands above the list, too: it is of the item.
  const [first] = list.items
  if (list.commentBefore && isNode(first) && !first.commentBefore) {
    first.commentBefore = list.commentBefore
    list.commentBefore = null
  }
  const old = list.items.map((node) => ({ node, value: readNode(document, node) }))
  const partners = matchByName(old, value) ?? matchByPlace(old, value)
  list.items = value.map((item, index) => {
    const partner = partners[index]
    return partner === undefined ? create(document, item) : change(document, partner.node, item)
  })
}

interface Item {
  node: unknown
  value: unknown
}

/** Rules and templates are known by their names. One that was renamed, and nothing else, is the same. */
function matchByName(old: Item[], value: unknown[]): (Item | undefined)[] | undefined {
  const names = [value, old.map((item) => item.value)].map((items) => items.map(readName))
  if (names.some((list) => list.includes(undefined) || new Set(list).size < list.length)) return undefined
  const free = new Map(old.map((item) => [readName(item.value), item]))
  const partners = value.map((item) => take(free, readName(item)))
  return partners.map((partner, index) => {
    if (partner !== undefined) return partner
    const same = [...free].find(([, item]) => isDeepStrictEqual(nameless(item.value), nameless(value[index])))
    return same && take(free, same[0])
  })
}

/** So many items are compared with all others. */
const maxCompared = 200

/** What is equal stays, in its order. Each other item is the old one of its place between these, if there is one. */
function matchByPlace(old: Item[], value: unknown[]): (Item | undefined)[] {
  const partners: (Item | undefined)[] = value.map(() => undefined)
  let next = 0
  let gap: number[] = []
  const fill = (end: number) => {
    for (const index of gap) if (next < end) partners[index] = old[next++]
    next = end
    gap = []
  }
  for (const [index, item] of value.entries()) {
    const end = next + (old.length <= maxCompared ? old.length : 1)
    const at = old.slice(next, end).findIndex((one) => isDeepStrictEqual(one.value, item))
    if (at < 0) gap.push(index)
    else {
      fill(next + at)
      partners[index] = old[next++]
    }
  }
  fill(old.length)
  return partners
}

function take(free: Map<string | undefined, Item>, name: string | undefined): Item | undefined {
  const item = free.get(name)
  free.delete(name)
  return item
}

/** The comments of what is replaced stay. */
function replace(document: Document, node: unknown, value: unknown): Node {
  const created = create(document, value)
  if (isNode(node) && !isAlias(node)) {
    if (node.commentBefore) created.commentBefore = node.commentBefore
    if (node.comment) created.comment = node.comment
    if (node.spaceBefore) created.spaceBefore = true
  }
  return created
}

function create(document: Document, value: unknown): Node {
  return document.createNode(value, { aliasDuplicateObjects: false })
}

/** undefined where an anchor is missing, as when the rule that had it is gone. */
function readNode(document: Document, node: unknown): unknown {
  if (!isNode(node)) return node
  try {
    return node.toJS(document)
  } catch {
    return undefined
  }
}

function readName(value: unknown): string | undefined {
  const name = isObject(value) ? value.name : undefined
  return typeof name === 'string' ? name : undefined
}

function nameless(value: unknown): object {
  return { ...(value as object), name: '' }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
