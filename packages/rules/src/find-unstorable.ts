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
 * Finds texts that Postgres cannot store (with NUL, or half a surrogate pair), at most 20.
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
    if (++nodes > maxNodes) throw new TooLarge(field, `Body has more than ${maxNodes} values`)
    if (typeof value === 'string') reportText(value, field)
    if (typeof value !== 'object' || value === null) continue
    if (depth > maxDepth) throw new TooLarge(field, `Nested deeper than ${maxDepth} levels`)
    const isArray = Array.isArray(value)
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
  for (let nodes = 0; pending.length > 0; nodes++) {
    if (nodes === maxNodes) return true
    const value = pending.pop()
    if (typeof value === 'object' && value !== null)
      for (const child of Object.values(value)) pending.push(child)
  }
  return false
}
