export const maxPathLength = 500

/** Finds a value in event data; undefined when it is missing. May throw only where reading the data itself throws. */
export type Read = (data: unknown) => unknown

interface Step {
  key: string
  isIndex: boolean
}

// A name may hold spaces inside ("First Name") and any letter, but nothing that a path or a placeholder is written with.
const nameCharacter = String.raw`[^\s\p{Cc}.[\]{}|:"'\\]`
const steps = new RegExp(
  String.raw`(?:^|(?<!^)\.)(${nameCharacter}+(?: +${nameCharacter}+)*)|\[(0|[1-9]\d{0,8})\]`,
  'uy',
)

/** Splits `lead.tags[0].name` into its keys; undefined when the text is no field path. */
export function parsePath(path: string): string[] | undefined {
  if (path.length === 0 || path.length > maxPathLength || path.startsWith('[')) return undefined
  const keys: string[] = []
  let end = 0
  while (end < path.length) {
    steps.lastIndex = end
    const match = steps.exec(path)
    if (!match) return undefined
    keys.push(match[1] ?? match[2] ?? '')
    end = steps.lastIndex
  }
  return keys
}

/** Rules name the same few fields over and over: a path's reader is made once. Bounded, since anybody may name fields. */
const readers = new Map<string, Read>()
const maxReaders = 1_000

/**
 * Compiles a field path. Own properties only: what an object inherits, and the length of a text or a list, is out of
 * reach; in a list only an index is a key (`tags[0]` and `tags.0` are the same).
 * Throws when the path is none: check with parsePath first.
 */
export function compilePath(path: string): Read {
  let read = readers.get(path)
  if (read === undefined) {
    read = makeReader(path)
    if (readers.size >= maxReaders) readers.clear()
    readers.set(path, read)
  }
  return read
}

function makeReader(path: string): Read {
  const keys = parsePath(path)
  if (!keys) throw new Error(`No field path: ${path}`)
  const [first, second, ...rest] = keys.map(
    (key): Step => ({ key, isIndex: /^(?:0|[1-9]\d{0,8})$/.test(key) }),
  )
  if (!first) throw new Error(`No field path: ${path}`)
  // Every clause and every placeholder begins here, and nearly all have one key or two: those pay for no loop.
  if (!second) return (data) => readOwn(data, first)
  if (rest.length === 0) return (data) => readOwn(readOwn(data, first), second)
  return (data) => {
    let value = readOwn(readOwn(data, first), second)
    for (const step of rest) value = readOwn(value, step)
    return value
  }
}

function readOwn(holder: unknown, { key, isIndex }: Step): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined
  if (!isIndex && Array.isArray(holder)) return undefined
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined
}
