import type { Fault } from '@automation/engine'

export const maxNodes = 20_000
export const maxDepth = 32
const maxReported = 20

/** The body is so deep or large that to check more of it could do harm. */
export class TooLarge extends Error {
  readonly fault: Fault

  constructor(field: string, message: string) {
    super(message)
    this.fault = { field, message }
  }
}

/**
 * Finds what cannot be stored, at most 20: texts with NUL or half a surrogate pair, and numbers beyond 1.8e308.
 *
 * @param root path of the value within the body
 * @throws TooLarge
 */
export function findUnstorable(json: unknown, root = ''): Fault[] {
  const faults: Fault[] = []
  let nodes = 0
  const pending: { value: unknown; field: string; depth: number }[] = [{ value: json, field: root, depth: 1 }]
  // A loop with its own stack handles any depth that JSON.parse handles.
  for (let next = pending.pop(); next && faults.length < maxReported; next = pending.pop()) {
    const { value, field, depth } = next
    nodes++
    if (typeof value === 'string') reportText(value, field)
    // JSON has no word for it: 1e400 would be stored as null.
    if (typeof value === 'number' && !Number.isFinite(value))
      faults.push({ field, message: 'Is larger than the largest number' })
    if (typeof value !== 'object' || value === null) continue
    if (depth > maxDepth) throw new TooLarge(field, `Nested deeper than ${maxDepth} levels`)
    const isArray = Array.isArray(value)
    const size = isArray ? value.length : Object.keys(value).length
    // Before a path is made for each of half a million.
    if (nodes + pending.length + size > maxNodes)
      throw new TooLarge(field, `Body has more than ${maxNodes} values`)
    for (const [key, child] of Object.entries(value)) {
      const name = isArray ? `${field}[${key}]` : field === '' ? key : `${field}.${key}`
      if (!isArray) reportText(key, name)
      pending.push({ value: child, field: name, depth: depth + 1 })
    }
  }
  return faults

  function reportText(text: string, field: string): void {
    if (text.includes('\0'))
      faults.push({ field: field.replaceAll('\0', '\\0'), message: 'Contains a NUL character' })
    else if (!text.isWellFormed())
      faults.push({ field: field.toWellFormed(), message: 'Contains a lone surrogate' })
  }
}

/** Whether a body has more values than allowed, at any depth. It stops at the limit. */
export function hasTooManyValues(body: unknown): boolean {
  const pending = [body]
  for (let nodes = 1; pending.length > 0; nodes++) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (nodes + pending.length + children.length > maxNodes) return true
    for (const child of children) pending.push(child)
  }
  return false
}
