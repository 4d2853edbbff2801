/** As much of JSON Schema as the document uses. `false` allows nothing. */
export interface Schema {
  $ref?: string
  description?: string
  type?: string | string[]
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema | false>
  additionalProperties?: Schema | boolean
  items?: Schema
  minItems?: number
  maxItems?: number
  anyOf?: Schema[]
  oneOf?: Schema[]
  discriminator?: { propertyName: string }
  if?: Schema
  then?: Schema
  else?: Schema
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

interface Content {
  content?: Record<string, { schema: Schema }>
}

export interface Operation {
  summary: string
  parameters?: Parameter[]
  requestBody?: Content & { required?: boolean }
  responses: Record<string, Content>
}

/** docs/openapi.json */
export interface OpenApi {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, Operation>>
}

/** Every operation under its name: the method and the path, `POST /api/events/{id}/replay`. */
export function listOperations({ paths }: OpenApi): [name: string, operation: Operation][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  )
}

/** undefined where there is none, or it is not JSON. */
export function schemaOf({ content }: Content): Schema | undefined {
  return content?.['application/json']?.schema
}
