import { emptyClause } from './condition-kinds.js'
import { beginHours } from './hours.js'

/** JSON schema, as far as a form needs it. */
export interface FieldSchema {
  $ref?: string
  title?: string
  type?: string | readonly string[]
  enum?: readonly string[]
  description?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  properties?: Record<string, FieldSchema>
  required?: readonly string[]
  patternProperties?: Record<string, FieldSchema>
  items?: FieldSchema
  examples?: readonly Record<string, unknown>[]
}

/** How a field of an action is filled in. Everything else is JSON, so a field that nobody thought of can be edited, too. */
export type FieldKind =
  | 'choice'
  | 'number'
  | 'switch'
  | 'text'
  | 'long text'
  | 'addresses'
  | 'condition'
  | 'conditions'
  | 'fields'
  | 'hours'
  | 'texts'
  | 'choices'
  | 'json'

/** A text of so many characters is one of several lines. */
const longText = 1_000

export function kindOfField(schema: FieldSchema): FieldKind {
  if (isCondition(schema)) return 'condition'
  if (schema.items && isCondition(schema.items)) return 'conditions'
  if (schema.title === 'Hours') return 'hours'
  if (schema.type === 'array' && schema.items?.enum) return 'choices'
  if (schema.type === 'array' && schema.items?.type === 'string') return 'texts'
  if (schema.enum) return 'choice'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'boolean') return 'switch'
  if (schema.type?.includes('string') && schema.type.includes('array')) return 'addresses'
  if (schema.type === 'string')
    return (schema.maxLength ?? 0) > longText && !isUrl(schema) ? 'long text' : 'text'
  return schema.type === 'object' && schema.properties ? 'fields' : 'json'
}

function isCondition({ $ref, title }: FieldSchema): boolean {
  return $ref === 'Condition#' || title === 'Condition'
}

/** A URL may be long, but has one line. */
function isUrl({ description = '' }: FieldSchema): boolean {
  return /\bURL\b/.test(description)
}

/** What a field begins with when it is added. */
export function emptyOfField(schema: FieldSchema): unknown {
  switch (kindOfField(schema)) {
    case 'choice':
      return schema.enum?.[0]
    case 'number':
      return schema.minimum ?? 0
    case 'switch':
      return true
    case 'condition':
      return emptyClause
    case 'conditions':
      return [emptyClause]
    case 'fields':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, emptyOfField(schema.properties?.[name] ?? {})]),
      )
    case 'hours':
      return beginHours(Intl.DateTimeFormat().resolvedOptions().timeZone)
    case 'texts':
      return []
    case 'choices':
      return schema.items?.enum?.slice(0, 1)
    case 'json':
      return {}
    default:
      return ''
  }
}
