import { compilePath, readPath } from '@automation/engine'

/** The text at the first of the paths that has one. */
export function readText(paths: readonly string[], payload: unknown): string | undefined {
  for (const path of paths) {
    const value = readPath(compilePath(path), payload)
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return undefined
}
