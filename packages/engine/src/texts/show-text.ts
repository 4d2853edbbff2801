import { cutText } from './cut-text.js'

const maxShown = 40

/** A scalar as JSON, of which a message shows the beginning; of other values the kind. */
export function showText(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return JSON.stringify(typeof value === 'string' ? cutText(value, maxShown, '…') : value) ?? 'nothing'
}
