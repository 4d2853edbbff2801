import { cutText } from '../texts/cut-text.js'
import { findTextEnd } from './scan-json.js'

/** An object or a list that is open. */
interface Open {
  /** The names so far; undefined in a list. */
  names: Set<string> | undefined
  /** The name or the index of the value that is read. */
  at: string | number
}

/** So many are found at most. */
const maxFound = 20
/** A name may be as long as its body. */
const maxPath = 500

/**
 * Finds the names that an object of a text of JSON has twice, each with its path. JSON.parse keeps the last of them, so the others would be lost in
 * silence. It reads each character once.
 *
 * @param json valid JSON
 */
export function findRepeatedNames(json: string): string[] {
  const found = new Set<string>()
  let hits = 0
  const open: Open[] = []
  let isName = false
  for (let at = 0; at < json.length; at++) {
    const code = json[at]
    const last = open.at(-1)
    if (code === '"') {
      const end = findTextEnd(json, at)
      if (isName && last?.names !== undefined) {
        last.at = readName(json, at, end)
        if (last.names.has(last.at)) {
          found.add(cutText(writePath(open), maxPath))
          hits++
        }
        if (hits >= maxFound) break
        last.names.add(last.at)
        isName = false
      }
      at = end
    } else if (code === '{') {
      open.push({ names: new Set(), at: '' })
      isName = true
    } else if (code === '[') {
      open.push({ names: undefined, at: 0 })
      isName = false
    } else if (code === '}' || code === ']') open.pop()
    else if (code === ',' && last !== undefined) {
      isName = last.names !== undefined
      if (typeof last.at === 'number') last.at++
    }
  }
  return [...found]
}

/** The same name may be written with escapes. */
function readName(json: string, start: number, end: number): string {
  const name = json.slice(start + 1, end)
  return name.includes('\\') ? JSON.parse(json.slice(start, end + 1)) : name
}

function writePath(open: readonly Open[]): string {
  return open
    .map(({ at }, index) => (typeof at === 'number' ? `[${at}]` : index === 0 ? at : `.${at}`))
    .join('')
}

/** What their author is told of them. */
export function listRepeatedFaults(json: string): { field: string; message: string }[] {
  return findRepeatedNames(json).map((field) => ({ field, message: 'Is there twice: write it once' }))
}
