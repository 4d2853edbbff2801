import { ZonedTime } from '../times/zoned-time.js'
import { writeNumber } from './decimal.js'

/** The maximum number of rendered characters in a config: 32 KiB of `{{lead}}` could otherwise fill the memory. */
export const maxRenderedLength = 1_048_576

/** Writes a value as text: nothing for null and undefined, JSON for objects, no exponent. Throws where JSON.stringify does. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return writeNumber(value)
  if (value === undefined || value === null) return ''
  if (value instanceof ZonedTime) return value.toJSON()
  return typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value)
}
