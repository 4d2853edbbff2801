export const maxPathLength = 500

/** A compiled field path: its keys, from the outside in. */
export type Path = readonly Step[]

interface Step {
  key: string
  isIndex: boolean
  /** Every object inherits a property of this name. */
  isInherited: boolean
}

// A name may contain spaces ("First Name") and any letter, but none of the syntax of paths and placeholders.
const nameCharacter = String.raw`[^\s\p{Cc}.[\]{}|:"'\\]`
const steps = new RegExp(
  String.raw`(?:^|(?<!^)\.)(${nameCharacter}+(?: +${nameCharacter}+)*)|\[(0|[1-9]\d{0,8})\]`,
  'uy',
)

/** Splits `lead.tags[0].name` into its keys. Undefined when the text is not a field path. */
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

/**
 * Joins the path of an object ('' for the data itself) and one of its keys. Undefined for a key such as `a.b`: the path would be that of
 * another value. Other keys may make no path, which parsePath says.
 */
export function joinPath(path: string, key: string): string | undefined {
  if (/[.[]/.test(key)) return undefined
  return path === '' ? key : `${path}.${key}`
}

/** Rules use the same few fields again and again, so each path is compiled once. Bounded, since callers choose the fields. */
const paths = new Map<string, Path>()
const maxPaths = 1_000

/** Compiles a field path for readPath. Throws on an invalid path: check with parsePath first. */
export function compilePath(text: string): Path {
  let path = paths.get(text)
  if (path === undefined) {
    path = makePath(text)
    if (paths.size >= maxPaths) paths.clear()
    paths.set(text, path)
  }
  return path
}

function makePath(text: string): Path {
  const keys = parsePath(text)
  if (!keys) throw new Error(`No field path: ${text}`)
  return keys.map((key) => ({
    key,
    isIndex: isIndex(key),
    isInherited: key in Object.prototype,
  }))
}

/** Whether a key names an item of a list. */
export function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,8})$/.test(key)
}

/**
 * Finds a value in event data, which is JSON. Undefined when it is missing. Reads own properties only: no inherited ones, and
 * no length of a text or list. In a list only an index is a key (`tags[0]` and `tags.0` are the same). Throws only if reading
 * the data throws, which JSON never does.
 */
export function readPath(path: Path, data: unknown): unknown {
  let value = data
  // Every clause and every placeholder uses this function, and an index is faster than an iterator.
  for (let n = 0; n < path.length; n++) value = readOwn(value, path[n] as Step)
  return value
}

/** The same, and undefined for what throws: only data that was never JSON does. */
export function readOrMiss(path: Path, data: unknown): unknown {
  try {
    return readPath(path, data)
  } catch {
    return undefined
  }
}

function readOwn(holder: unknown, { key, isIndex, isInherited }: Step): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined
  if (!isIndex && Array.isArray(holder)) return undefined
  // hasOwn takes longer than reading, so it checks only names that could be inherited.
  if (isInherited && !Object.hasOwn(holder, key)) return undefined
  return (holder as Record<string, unknown>)[key]
}
