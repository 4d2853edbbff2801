import { isIndex, type Path, readOrMiss } from './path.js'

/**
 * Says why a path leads to nothing if it goes on where nothing is below: in a list without an index, or in a scalar. Undefined if the
 * data has nothing there, or only null.
 */
export function findDeadEnd(path: Path, data: unknown): string | undefined {
  const keys = path.map(({ key }) => key)
  for (let length = 1; length < path.length; length++) {
    const holder = readOrMiss(path.slice(0, length), data)
    if (holder === undefined || holder === null) return undefined
    if (Array.isArray(holder) && path[length]?.isIndex === false) return describeListEnd(keys, length)
    if (typeof holder !== 'object')
      return `${writeKeys(keys.slice(0, length))} is a ${nameOf(holder)}, and has nothing below it`
  }
  return undefined
}

/** @param length how many of the keys lead to the list */
export function describeListEnd(keys: readonly string[], length: number): string {
  const list = writeKeys(keys.slice(0, length))
  if (keys[length] === 'length')
    return `${list} is a list, and has no length here: is_empty and is_not_empty ask for its items`
  const item = writeKeys([...keys.slice(0, length), '0', ...keys.slice(length)])
  return `${list} is a list: the path needs the index of an item, such as ${item}`
}

function nameOf(scalar: unknown): string {
  return typeof scalar === 'string' ? 'text' : typeof scalar
}

/** Writes an index as authors do: tags[0]. */
function writeKeys(keys: readonly string[]): string {
  return keys
    .map((key, index) => (isIndex(key) && index > 0 ? `[${key}]` : index > 0 ? `.${key}` : key))
    .join('')
}
