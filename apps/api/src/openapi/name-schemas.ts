import type { Document, Schema } from './document.js'

const examples = new Set(['example', 'examples'])

/**
 * Moves each schema with a `title` to the components, under its title, and leaves a reference to it. A description that
 * differs from the component's stays beside the reference.
 *
 * @throws Error if two different schemas have the same title
 */
export function nameSchemas(document: Document): void {
  const schemas: Record<string, Schema> = {}
  for (const [name, schema] of Object.entries(document.components.schemas))
    schemas[name] = withoutTitle(nameIn(schema, schemas) as Schema)
  document.paths = nameIn(document.paths, schemas) as Document['paths']
  document.webhooks = nameIn(document.webhooks, schemas) as NonNullable<Document['webhooks']>
  const sorted = Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1))
  document.components.schemas = Object.fromEntries(sorted)
}

function nameIn(node: unknown, schemas: Record<string, Schema>, isProperties = false): unknown {
  if (Array.isArray(node)) return node.map((item) => nameIn(item, schemas))
  if (typeof node !== 'object' || node === null) return node
  const named = Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      // It is for our messages.
      if (key === 'patternError' && !isProperties) return []
      // Examples are data: a title among them is no name. Properties may have any name.
      const isData = examples.has(key) && !isProperties
      return [[key, isData ? value : nameIn(value, schemas, key === 'properties' && !isProperties)]]
    }),
  )
  if (isProperties) return named
  const schema = isUntypedEnum(named) ? { type: 'string', ...named } : named
  return typeof named.title === 'string' ? refer(named.title, withoutTitle(schema), schemas) : schema
}

/** Without a type, generators know nothing of the values. */
function isUntypedEnum({ type, enum: values }: Schema): boolean {
  return type === undefined && Array.isArray(values) && values.every((value) => typeof value === 'string')
}

function refer(title: string, schema: Schema, schemas: Record<string, Schema>): Schema {
  const { description } = schema
  schemas[title] ??= schema
  const known = schemas[title]
  if (shapeOf(known) !== shapeOf(schema)) throw new Error(`Two different schemas have the title ${title}`)
  // The description of a parameter stands beside its schema, so another use may be the first to bring one.
  if (description !== undefined && known.description === undefined) schemas[title] = { description, ...known }
  const isOwn = description === undefined || description === schemas[title].description
  return { $ref: `#/components/schemas/${title}`, ...(isOwn ? {} : { description }) }
}

function withoutTitle({ title: _, ...schema }: Schema): Schema {
  return schema
}

function shapeOf({ description: _, ...shape }: Schema): string {
  return JSON.stringify(shape)
}
