import type { FormFields } from './read-form.js'

type Nested = { [name: string]: unknown }

/** More than a form has levels, and less than JSON may have. */
const maxParts = 10

/**
 * Nests the fields of a form as they are named, so that paths lead to them: `MessagingBinding.Address`, and `data[email]` and `items[0][id]` of
 * senders in PHP. A name whose place is taken, or that has another look, stays as it is.
 */
export function nestForm(fields: FormFields): Nested {
  const nested: Nested = Object.create(null)
  const made = new Set<object>([nested])
  // Plain names have their places first.
  const named = Object.entries(fields).map(([name, value]) => ({ name, value, parts: splitName(name) }))
  named.sort((one, other) => Number(one.parts.length > 1) - Number(other.parts.length > 1))
  for (const { name, value, parts } of named) {
    const isList = parts.length > 1 && parts.at(-1) === ''
    // `tags[]` is the list of its values, also of one.
    const placed = isList
      ? place(nested, parts.slice(0, -1), [value].flat(), made)
      : place(nested, parts, value, made)
    if (!placed) nested[name] = value
  }
  return listed(nested, made) as Nested
}

/** @returns the name alone where it has no parts */
function splitName(name: string): string[] {
  if (!/^[\w-]+(?:\.[\w-]+|\[[\w-]*\])+$/.test(name)) return [name]
  const parts = name.replaceAll(']', '').split(/[.[]/)
  const isUsable =
    parts.length <= maxParts &&
    parts.every((part, index) => part !== '__proto__' && (part !== '' || index === parts.length - 1))
  return isUsable ? parts : [name]
}

function place(target: Nested, parts: readonly string[], value: unknown, made: Set<object>): boolean {
  const last = parts.at(-1) as string
  let holder = target
  for (const part of parts.slice(0, -1)) {
    let next = holder[part]
    if (next === undefined) {
      next = Object.create(null) as object
      made.add(next as object)
      holder[part] = next
    }
    if (typeof next !== 'object' || next === null || !made.has(next)) return false
    holder = next as Nested
  }
  if (holder[last] !== undefined) return false
  holder[last] = value
  return true
}

/** Objects with the names 0, 1, 2 and so on are lists. */
function listed(value: unknown, made: ReadonlySet<object>, isRoot = true): unknown {
  if (typeof value !== 'object' || value === null || !made.has(value)) return value
  const entries = Object.entries(value).map(([name, one]) => [name, listed(one, made, false)] as const)
  const isList = !isRoot && entries.every(([name], index) => name === String(index))
  return isList
    ? entries.map(([, one]) => one)
    : Object.assign(Object.create(null), Object.fromEntries(entries))
}
