/** A path into the data of events, with an example. */
export interface SeenPath {
  path: string
  kind: string
  example: unknown
}

const deepest = 6
const most = 300

/** The paths in the data of some events, each with the value of the first event that has it. */
export function listPaths(data: readonly unknown[]): SeenPath[] {
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
  for (const [key, child] of Object.entries(value)) {
    if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key))
      walk(child, path === '' ? key : `${path}.${key}`, depth + 1, seen)
  }
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** The path that a misspelt one may mean: at most two letters away, or the same last name elsewhere. */
export function findNearestPath(wanted: string, paths: readonly string[]): string | undefined {
  let best: { path: string; distance: number } | undefined
  for (const path of paths) {
    const isElsewhere = path.endsWith(`.${wanted}`) || wanted.endsWith(`.${path}`)
    const distance = isElsewhere ? 1 : editDistance(wanted, path)
    if (distance <= 2 && distance > 0 && distance < (best?.distance ?? 3)) best = { path, distance }
  }
  return best?.path
}

/** Levenshtein's distance; 3 where it is more than 2. */
export function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 2) return 3
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1
      next[j] = Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + cost)
    }
    row = next
  }
  return Math.min(row[right.length] ?? 3, 3)
}
