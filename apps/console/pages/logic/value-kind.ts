import { isLongNumber, readJson } from '@automation/engine'

/** How the value of a clause is typed. */
export type ValueKind = 'none' | 'range' | 'list' | 'number' | 'text' | 'scalar'

interface ValueSchema {
  type?: unknown
  minItems?: unknown
  maxItems?: unknown
}

/** @param schema of the operator's value; null or undefined: it takes none */
export function valueKindOf(schema: object | null | undefined): ValueKind {
  if (schema === null || schema === undefined) return 'none'
  const { type, minItems, maxItems } = schema as ValueSchema
  if (type === 'array') return minItems === 2 && maxItems === 2 ? 'range' : 'list'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'string' ? 'text' : 'scalar'
}

/**
 * A value as it is typed: `80` is a number, `true` a boolean, `"80"` a text, and anything else a text as it stands. So is a number with more
 * digits than a number keeps.
 */
export function readScalar(text: string): unknown {
  const trimmed = text.trim()
  if (/^(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?|".*")$/s.test(trimmed)) {
    try {
      const { value } = readJson(trimmed)
      return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY ? text : value
    } catch {
      return text
    }
  }
  return text
}

/** The number of an input. If a number would not keep the digits, it is their text, which the check of the rule refuses. */
export function readNumber(text: string): number | string {
  return isLongNumber(text) ? text : Number(text)
}

/** The opposite of readScalar: a text that would be read as something else has quotes, and so has one of several lines. */
export function writeScalar(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? '' : JSON.stringify(value)
  return readScalar(value) === value && !/[\n\r]/.test(value) ? value : JSON.stringify(value)
}

export function readList(text: string): unknown[] {
  return splitList(text).map(readScalar)
}

/** As readList, where all values are texts: 1.10 is not 1.1. */
export function readTexts(text: string): string[] {
  return splitList(text).map((part) => (part.startsWith('"') ? String(readScalar(part)) : part))
}

function splitList(text: string): string[] {
  const parts = text.match(/\s*"(?:[^"\\]|\\.)*"\s*|[^,]+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** The opposite of readList: a text that would not come back as it is has quotes. */
export function writeList(value: unknown): string {
  if (!Array.isArray(value)) return ''
  return value
    .map((item) =>
      typeof item === 'string' && /^$|^\s|\s$|[,"]/.test(item) ? JSON.stringify(item) : writeScalar(item),
    )
    .join(', ')
}
