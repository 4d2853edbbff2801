/** As much of JSON Schema as the routes use. */
export interface Schema {
  $ref?: string
  $id?: string
  title?: string
  description?: string
  type?: string | string[]
  minimum?: number
  required?: string[]
  properties?: Record<string, Schema | false>
  additionalProperties?: boolean | Schema
  items?: Schema
  enum?: unknown[]
  /** Values that are known, of those that are valid. */
  'x-extensible-enum'?: unknown[]
  const?: unknown
  /** What each value of an enum means. */
  'x-enumDescriptions'?: Record<string, string>
  anyOf?: Schema[]
  oneOf?: Schema[]
  discriminator?: { propertyName: string; mapping?: Record<string, string> }
}

export interface Header {
  description: string
  schema: Schema
}

export interface Response {
  $ref?: string
  description?: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, Content>
}

interface Content {
  schema: Schema
  example?: object
}

export interface Operation {
  operationId?: string
  summary?: string
  parameters?: { name: string; in: string; description?: string; schema: Schema }[]
  requestBody?: { required?: boolean; content: Record<string, Content> }
  responses: Record<string, Response>
  security?: object[]
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  /** What the service sends. */
  webhooks?: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    responses?: Record<string, Response>
    headers?: Record<string, Header>
  }
}

export function listOperations({ paths }: Document): Operation[] {
  return Object.values(paths).flatMap((path) => Object.values(path))
}
