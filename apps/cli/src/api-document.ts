import type { OperationName } from '@automation/client'

/** A JSON schema, as far as a tool or a command needs it. */
export interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  [key: string]: unknown
}

interface Operation {
  summary: string
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
}

/** The part of docs/openapi.json that tools and commands are made of. */
export interface ApiDocument {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Where the fields of an input belong in the request. */
export interface InputPlaces {
  path: string[]
  query: string[]
  body: string[]
}

export interface OperationInput {
  /** One line. */
  summary: string
  places: InputPlaces
  schema: Schema
  /** Whether it takes the ETag of what it changes. */
  takesTag: boolean
}

/** They are large and refer to themselves. The tool rule_schema has them. */
const cut = ['Condition', 'Action']

/**
 * Makes one object of the parameters and the body of an operation. Its schema is that of the API, without examples.
 *
 * @param left fields that nobody gives
 */
export function findInput(
  document: ApiDocument,
  name: OperationName,
  left: readonly string[] = [],
): OperationInput {
  const [method = '', path = ''] = name.split(' ')
  const operation = document.paths[path]?.[method.toLowerCase()]
  if (operation === undefined) throw new Error(`docs/openapi.json has no ${name}`)
  const { summary, parameters = [], requestBody } = operation
  const content = requestBody?.content['application/json'].schema
  const body = content === undefined ? {} : inline(document, content)
  const fields = parameters.filter((one) => one.in === 'path' || one.in === 'query')
  const properties: Record<string, Schema> = Object.fromEntries([
    ...fields.map(({ name, description, schema }): [string, Schema] => {
      const { description: own, ...shape } = inline(document, schema)
      return [name, { ...shape, ...describe(description ?? own) }]
    }),
    ...Object.entries(body.properties ?? {}),
  ])
  const required = [...fields.filter((one) => one.required).map((one) => one.name), ...(body.required ?? [])]
  const namesIn = (place: string) => fields.filter((one) => one.in === place).map((one) => one.name)
  return {
    summary,
    takesTag: parameters.some((one) => one.name === 'If-Match'),
    places: { path: namesIn('path'), query: namesIn('query'), body: Object.keys(body.properties ?? {}) },
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(properties).filter(([field]) => !left.includes(field))),
      required: required.filter((field) => !left.includes(field)),
      additionalProperties: false,
    },
  }
}

/** The types that a schema allows; none where it does not say them. */
export function listTypes(schema: Schema | undefined): string[] {
  const { type, anyOf, oneOf } = (schema ?? {}) as { type?: unknown; anyOf?: Schema[]; oneOf?: Schema[] }
  if (type !== undefined) return [type].flat() as string[]
  const branches = (anyOf ?? oneOf ?? []).map(listTypes)
  return branches.some((types) => types.length === 0) ? [] : branches.flat()
}

const describe = (description: string | undefined) => (description === undefined ? {} : { description })

/** Puts schemas in the place of references, and leaves out what no assistant needs. */
function inline(document: ApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  if (name === undefined) return shorten(schema, (part) => inline(document, part))
  if (cut.includes(name)) return { type: 'object', description: `${name}: rule_schema has its schema` }
  const found = document.components.schemas[name]
  if (found === undefined) throw new Error(`docs/openapi.json has no schema ${name}`)
  return inline(document, found)
}

function shorten(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const kept = Object.entries(schema).filter(([key]) => !/^(title|examples?|discriminator|x-.*)$/.test(key))
  return Object.fromEntries(
    kept.map(([key, value]): [string, unknown] => {
      if (key === 'properties') return [key, mapValues(value as Record<string, Schema>, change)]
      if (Array.isArray(value)) return [key, value.map((item) => (isObject(item) ? change(item) : item))]
      return [key, isObject(value) ? change(value) : value]
    }),
  )
}

function mapValues(schemas: Record<string, Schema>, change: (schema: Schema) => Schema) {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]))
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
