import type { ConditionTrace } from '../results/outcome.js'
import { findSimilar } from '../texts/nearest.js'
import { joinPath, parsePath } from '../values/path.js'
import type { Evaluation } from '../work/evaluation.js'

const maxPaths = 2_000
const maxDepth = 8
const maxItems = 20
/** How many missing fields get a proposal: each is compared with all paths. */
const maxSearches = 20

/**
 * Adds to each clause that fails because its field is missing the path that was probably meant: the same one further inside, such as
 * `data.days` for `days`, otherwise the one that is spelt most like it.
 *
 * @param evaluation to it the comparison of paths is charged; beyond it there are no proposals
 */
export function addHints(
  traces: readonly ConditionTrace[],
  data: unknown,
  evaluation: Evaluation,
): ConditionTrace[] {
  let paths: string[] | undefined
  let searches = 0
  const visit = (trace: ConditionTrace): ConditionTrace => {
    if ('group' in trace) return { ...trace, children: trace.children.map(visit) }
    const isMissing =
      'list' in trace ? trace.items === undefined && trace.note === undefined : trace.actual === undefined
    if (trace.verdict || trace.warning !== undefined || !isMissing) return trace
    if (++searches > maxSearches) return trace
    paths ??= pathsOf(data)
    const field = 'list' in trace ? trace.list : trace.field
    const didYouMean = findInside(field, paths, evaluation) ?? findSimilar(field, paths, evaluation)
    return didYouMean === undefined ? trace : { ...trace, didYouMean }
  }
  return traces.map(visit)
}

/** Some 20 comparisons of ends are a unit. */
function findInside(field: string, paths: readonly string[], evaluation: Evaluation): string | undefined {
  if (!evaluation.spend(paths.length / 20)) return undefined
  const end = `.${field}`
  return paths.find((path) => path.endsWith(end))
}

const pathsByData = new WeakMap<object, string[]>()

/** The paths of data, listed once for all rules. */
function pathsOf(data: unknown): string[] {
  if (typeof data !== 'object' || data === null) return []
  const known = pathsByData.get(data)
  if (known !== undefined) return known
  const paths = listPaths(data)
  pathsByData.set(data, paths)
  return paths
}

/** The paths of data, of its outermost values first. */
export function listPaths(data: unknown): string[] {
  const paths: string[] = []
  let level: { path: string; value: unknown }[] = [{ path: '', value: data }]
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const next: typeof level = []
    for (const { path, value } of level)
      for (const child of childrenOf(path, value)) {
        if (paths.length === maxPaths) return paths
        paths.push(child.path)
        next.push(child)
      }
    level = next
  }
  return paths
}

function childrenOf(path: string, value: unknown): { path: string; value: unknown }[] {
  if (Array.isArray(value))
    return path === ''
      ? []
      : value.slice(0, maxItems).map((item, index) => ({ path: `${path}[${index}]`, value: item }))
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value)
    .slice(0, maxPaths)
    .flatMap((key) => {
      const child = joinPath(path, key)
      return child === undefined || parsePath(child) === undefined
        ? []
        : [{ path: child, value: (value as Record<string, unknown>)[key] }]
    })
}
