import { cutText } from '../texts/cut-text.js'

/** How much of a value a trace shows, in characters and items: 50 clauses may name the same megabyte. */
const maxActualLength = 1_000

const excerpts = new WeakMap<object, unknown>()

/** What a trace, or an event that shows something, shows of a value. */
export function excerptOf(actual: unknown): unknown {
  if (typeof actual !== 'object' || actual === null) return clip(actual, { left: maxActualLength })
  const known = excerpts.get(actual)
  if (known !== undefined) return known
  const excerpt = clip(actual, { left: maxActualLength })
  excerpts.set(actual, excerpt)
  return excerpt
}

/** Copies the beginning of a value. Where something is left out, the copy has an ellipsis. */
function clip(value: unknown, room: { left: number }): unknown {
  if (typeof value === 'string') {
    const end = Math.max(room.left, 0)
    room.left -= value.length
    return cutText(value, end, '…')
  }
  room.left--
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      if (room.left <= 0) return [...items, '…']
      items.push(clip(item, room))
    }
    return items
  }
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value)) {
    if (room.left <= 0) {
      copy['…'] = '…'
      break
    }
    room.left -= key.length
    copy[key] = clip((value as Record<string, unknown>)[key], room)
  }
  return copy
}
