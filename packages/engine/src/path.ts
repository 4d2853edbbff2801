export const maxPathLength = 500

/** A field path made ready: the keys to follow, from the outside in. */
export type Path = readonly Step[]

interface Step {
  key: string
  isIndex: boolean
  /** Every object has something of this name. */
  isInherited: boolean
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

/** Rules name the same few fields over and over: a path is made ready once. Bounded, since anybody may name fields. */
const paths = new Map<string, Path>()
const maxPaths = 1_000

/** Makes a field path ready for readPath. Throws when it is none: check with parsePath first. */
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
    isIndex: /^(?:0|[1-9]\d{0,8})$/.test(key),
    isInherited: key in Object.prototype,
  }))
}

/**
 * Finds a value in event data, which is JSON; undefined when it is missing. Own properties only: what an object inherits, and
 * the length of a text or a list, is out of reach; in a list only an index is a key (`tags[0]` and `tags.0` are the same).
 * May throw only where reading the data itself throws, which JSON never does.
 */
export function readPath(path: Path, data: unknown): unknown {
  let value = data
  // Every clause and every placeholder comes through here: counting is faster than iterating.
  for (let n = 0; n < path.length; n++) value = readOwn(value, path[n] as Step)
  return value
}

function readOwn(holder: unknown, { key, isIndex, isInherited }: Step): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined
  if (!isIndex && Array.isArray(holder)) return undefined
  // Asking takes longer than reading, so it is asked only of names that could be somebody else's.
  if (isInherited && !Object.hasOwn(holder, key)) return undefined
  return (holder as Record<string, unknown>)[key]
}
