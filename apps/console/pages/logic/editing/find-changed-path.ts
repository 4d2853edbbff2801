import { isEqual } from './align-items.js'

/** The one place where two values differ, such as `actions[0].config.title`; undefined if they are equal. */
export function findChangedPath(before: unknown, after: unknown, path = ''): string | undefined {
  if (isEqual(before, after)) return undefined
  if (!isHolder(before) || !isHolder(after) || lengthOf(before) !== lengthOf(after)) return path
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...keys].filter((key) => !isEqual(before[key], after[key]))
  const [key] = changed
  if (key === undefined || changed.length > 1) return path
  const place = Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
  return findChangedPath(before[key], after[key], place)
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Of a list; undefined for an object. */
function lengthOf(holder: object): number | undefined {
  return Array.isArray(holder) ? holder.length : undefined
}
