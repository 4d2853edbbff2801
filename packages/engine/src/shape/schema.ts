/** As much of JSON schema as rules and the bodies of requests use. */
export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  /** What the pattern asks for, in words; of an object, what it asks of the names of its fields. */
  patternError?: string
  items?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  properties?: Record<string, Schema>
  required?: readonly string[]
  /** Absent: other fields may have any value. */
  additionalProperties?: boolean
  patternProperties?: Record<string, Schema>
  minProperties?: number
  maxProperties?: number
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  description?: string
}

const keywords = new Set(
  [
    '$ref type enum const minimum maximum minLength maxLength pattern items minItems maxItems uniqueItems anyOf oneOf',
    'properties required additionalProperties patternProperties minProperties maxProperties',
    // They say something to people.
    '$id title description examples default discriminator patternError',
  ].flatMap((line) => line.split(' ')),
)

/** @throws Error for a schema that says what no walk checks */
export function refuseUnchecked(schema: Schema): void {
  const unknown = Object.keys(schema).find((keyword) => !keywords.has(keyword))
  if (unknown !== undefined || typeof schema.additionalProperties === 'object')
    throw new Error(`No value is checked for ${unknown ?? 'additionalProperties'}`)
}

/** undefined for what JSON has no word for, such as 1e400. */
export function kindOf(value: unknown): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object'
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : undefined
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined
}

export function isOfType(types: readonly string[], value: unknown): boolean {
  const kind = kindOf(value)
  return (
    kind !== undefined && (types.includes(kind) || (types.includes('integer') && Number.isInteger(value)))
  )
}

/** A field without a value is none, as in JSON. */
export function hasField(held: object, name: string): held is Record<string, unknown> {
  return (held as Record<string, unknown>)[name] !== undefined && Object.hasOwn(held, name)
}

/** The values that a schema lists. */
export function valuesOf({ enum: values, const: value }: Schema): readonly unknown[] | undefined {
  return values ?? (value === undefined ? undefined : [value])
}
