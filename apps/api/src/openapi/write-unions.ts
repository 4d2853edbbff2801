import type { Schema } from './document.js'

/**
 * Writes schemas that are built for good validation errors as plain unions, which every generator understands. They accept
 * the same values:
 *
 * - `if` (a field is required), `then`, `else` become an `anyOf` of the branches
 * - a `oneOf` whose branches share fields outside of it becomes a `oneOf` of complete objects
 * - an `enum` of texts gets its `type`, without which generators know nothing of the values
 */
export function writeUnions(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(writeUnions)
  if (typeof node !== 'object' || node === null) return node
  const { if: condition, then: _then, else: _else, ...rest } = node as Schema
  if (condition !== undefined) {
    const { type: _type, ...annotations } = rest
    return { ...annotations, anyOf: listBranches(node).map(writeUnions) }
  }
  if (isTagged(node)) return writeTagged(node)
  if (isUntypedEnum(node)) return { type: 'string', ...node }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, writeUnions(value)]))
}

type Tagged = Schema & { oneOf: Schema[]; discriminator: { propertyName: string } }

function isTagged(schema: Schema): schema is Tagged {
  return schema.oneOf !== undefined && schema.discriminator !== undefined && schema.properties !== undefined
}

function isUntypedEnum(schema: Schema): boolean {
  const { type, enum: values } = schema
  return type === undefined && Array.isArray(values) && values.every((value) => typeof value === 'string')
}

function listBranches(schema: Schema): Schema[] {
  if (schema.if === undefined) return [isTagged(schema) ? joinBranches(schema) : schema]
  const { if: condition, then: yes = {}, else: no = {} } = schema
  return [{ type: 'object', required: condition?.required ?? [], ...yes }, ...listBranches(no)]
}

/** The last `else`: the branches of a tag that has many values. */
function joinBranches({ title, description, ...tagged }: Tagged): Schema {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: mergeBranches(tagged),
  }
}

/** A union whose tag has one value in each branch refers to a component for each of them. */
function writeTagged(schema: Tagged): Schema {
  const {
    type: _type,
    properties: _properties,
    required: _required,
    additionalProperties: _,
    ...rest
  } = schema
  const { title, discriminator } = schema
  const branches = mergeBranches(schema).map((branch) => {
    const tag = branch.properties?.[discriminator.propertyName]
    const [value, ...others] = tag ? (tag.enum ?? [tag.const]) : []
    if (title === undefined || typeof value !== 'string' || others.length > 0)
      throw new Error(`A tagged union needs a title, and one value of ${discriminator.propertyName} a branch`)
    return { value, schema: { title: toPascal(value) + title, ...(writeUnions(branch) as Schema) } }
  })
  const mapping = Object.fromEntries(
    branches.map(({ value, schema: { title: name } }) => [value, `#/components/schemas/${name}`]),
  )
  return {
    ...rest,
    discriminator: { ...discriminator, mapping },
    oneOf: branches.map((branch) => branch.schema),
  }
}

/** The branches with the fields that they share. Branches that differ only by the values of the tag are one. */
function mergeBranches({
  properties: shared = {},
  required = [],
  additionalProperties,
  oneOf,
  discriminator,
}: Tagged) {
  const tag = discriminator.propertyName
  const merged = new Map<string, Schema>()
  for (const branch of oneOf) {
    const properties = mergeProperties(shared, branch.properties ?? {})
    const schema: Schema = {
      ...(branch.title === undefined ? {} : { title: branch.title }),
      type: 'object',
      properties,
      required: [...new Set([...required, ...(branch.required ?? [])])],
      ...(additionalProperties === undefined ? {} : { additionalProperties }),
    }
    const { enum: values = [] } = (properties[tag] || {}) as Schema
    const shape = JSON.stringify({
      ...schema,
      properties: { ...properties, [tag]: values.length > 0 || properties[tag] },
    })
    const twin = merged.get(shape)?.properties?.[tag]
    if (twin) twin.enum = [...(twin.enum ?? []), ...values]
    else merged.set(shape, schema)
  }
  return [...merged.values()]
}

/** `{}` in the shared properties stands for what the branch says, and `false` in the branch for no such property. */
function mergeProperties(shared: Record<string, Schema | false>, own: Record<string, Schema | false>) {
  const properties: Record<string, Schema | false> = {}
  for (const [key, schema] of Object.entries({ ...shared, ...own })) {
    const isPlaceholder = !Object.hasOwn(own, key) && Object.keys(schema).length === 0
    if (schema !== false && !isPlaceholder) properties[key] = { ...schema }
  }
  return properties
}

/** SEND_EMAIL as SendEmail. */
function toPascal(text: string): string {
  return text
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
