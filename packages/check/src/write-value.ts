import { parsePath } from '@automation/engine'

/** Sets a value, and the objects on the way to it. Undefined sets nothing. */
export function writeValue(data: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  if (value === undefined) return
  let holder = data
  for (const key of keys.slice(0, -1)) {
    if (!Object.hasOwn(holder, key)) define(holder, key, {})
    holder = holder[key] as Record<string, unknown>
    if (typeof holder !== 'object' || holder === null) return
  }
  define(holder, keys.at(-1) as string, value)
}

/** `__proto__` is a key like any other in JSON. */
function define(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
}

/** The keys of a field path. */
export function keysOf(field: string): string[] {
  return parsePath(field) ?? [field]
}
