import { findSimilar } from '@automation/engine'
/** A path into the data of events, with an example. */
export interface SeenPath {
  path: string
  kind: string
  example: unknown
}

const deepest = 6
const most = 300

/** The paths in the data of some events, each with the value of the first event that has it. */
export function listConditionPaths(data: readonly unknown[]): SeenPath[] {
  const seen = new Map<string, SeenPath>()
  for (const one of data) walk(one, '', 0, seen)
  return [...seen.values()].sort((left, right) => (left.path < right.path ? -1 : 1))
}

function walk(value: unknown, path: string, depth: number, seen: Map<string, SeenPath>): void {
  if (seen.size >= most) return
  if (path !== '' && !seen.has(path)) seen.set(path, { path, kind: kindOf(value), example: value })
  if (depth >= deepest || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (value.length > 0) walk(value[0], `${path}[0]`, depth + 1, seen)
    return
  }
  // An object may have 10,000 fields: no list of all of them is made.
  for (const key in value) {
    if (seen.size >= most) return
    const child = (value as Record<string, unknown>)[key]
    if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key))
      walk(child, path === '' ? key : `${path}.${key}`, depth + 1, seen)
  }
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** The path that a misspelt one may mean: the same last name elsewhere, or at most two letters away. */
export function findNearestPath(wanted: string, paths: readonly string[]): string | undefined {
  const isElsewhere = (path: string) => path.endsWith(`.${wanted}`) || wanted.endsWith(`.${path}`)
  return paths.includes(wanted) ? undefined : (paths.find(isElsewhere) ?? findSimilar(wanted, paths))
}
