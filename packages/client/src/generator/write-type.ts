import type { Schema } from './document.js'

/** How a schema is written as a TypeScript type, in full or by its name where it has one. */
export interface TypeWriter {
  /** The declaration of a noun. */
  declare(name: string, schema: Schema): string
  write(schema: Schema | false): string
}

/** @param sharper types that say more than the document does, by `Noun.property` */
export function createTypeWriter(nouns: Map<string, Schema>, sharper: Record<string, string>): TypeWriter {
  const names = new Map([...nouns].map(([name, schema]) => [shapeOf(schema), name]))
  return { declare, write }

  function declare(name: string, schema: Schema): string {
    const comment = writeComment(schema.description)
    if (schema.properties !== undefined && schema.oneOf === undefined)
      return `${comment}export interface ${name} ${writeObject(schema, name)}`
    if (schema.discriminator?.propertyName !== 'type')
      return `${comment}export type ${name} = ${writeShape(schema)}`
    const kinds = groupBranches(schema).map(({ values, text }) => ({ kind: toPascal(values) + name, text }))
    const declarations = kinds.map(({ kind, text }) => `export interface ${kind} ${text}\n\n`)
    return `${declarations.join('')}${comment}export type ${name} = ${kinds.map(({ kind }) => kind).join(' | ')}`
  }

  function write(schema: Schema | false): string {
    if (schema === false) return 'never'
    if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    return names.get(shapeOf(schema)) ?? writeShape(schema)
  }

  function writeShape(schema: Schema): string {
    const { anyOf, type, items } = schema
    if (schema.if !== undefined) return writeChoice(schema)
    if (schema.discriminator !== undefined)
      return groupBranches(schema)
        .map(({ text }) => text)
        .join(' | ')
    if (anyOf !== undefined) return anyOf.map(write).join(' | ')
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    if (Array.isArray(type)) return type.map((one) => write({ type: one })).join(' | ')
    if (type === 'object') return writeObject(schema)
    if (type === 'array') return writeArray(schema, write(items ?? {}))
    if (type === 'integer' || type === 'number') return 'number'
    return type ?? 'unknown'
  }

  /** `if` tells by what is required which of the two it is. */
  function writeChoice({ if: condition, then: yes, else: no }: Schema): string {
    return [
      { type: 'object', ...yes, required: condition?.required ?? [] },
      { type: 'object', ...no },
    ]
      .map((branch) => writeShape(branch))
      .join(' | ')
  }

  function writeObject({ properties = {}, required = [], additionalProperties }: Schema, name = ''): string {
    const members = writeMembers(properties, required, name)
    if (members !== '') return `{\n${members}\n}`
    return `Record<string, ${typeof additionalProperties === 'object' ? write(additionalProperties) : 'unknown'}>`
  }

  function writeMembers(properties: Record<string, Schema | false>, required: string[], name = ''): string {
    return Object.entries(properties)
      .map(([key, schema]) => {
        const isRequired = required.includes(key)
        const type = sharper[`${name}.${key}`] ?? write(schema)
        return `${writeComment(findDescription(schema))}${key}${isRequired ? '' : '?'}: ${type}`
      })
      .join('\n')
  }

  /** The branches of a `oneOf` with what they have in common; those that differ by nothing but the discriminator are one. */
  function groupBranches({ properties: common = {}, required = [], oneOf = [], discriminator }: Schema) {
    const key = discriminator?.propertyName ?? ''
    const groups = new Map<string, unknown[]>()
    for (const branch of oneOf) {
      const own = branch.properties ?? {}
      const kind = own[key]
      const values = kind === false ? [] : (kind?.enum ?? [])
      const properties = { ...withoutPlaceholders(common, own), ...own, [key]: { $ref: hole } }
      const text = `{\n${writeMembers(properties, [...required, ...(branch.required ?? [])])}\n}`
      groups.set(text, [...(groups.get(text) ?? []), ...values])
    }
    return [...groups].map(([text, literals]) => {
      const values = literals.map((literal) => JSON.stringify(literal)).join(' | ')
      return { values, text: text.replace(hole, values) }
    })
  }
}

/** Stands where the values of a discriminator will. */
const hole = '§'

/** A description says what it is at its place; it makes no other shape. */
function shapeOf({ description: _, ...shape }: Schema): string {
  return JSON.stringify(shape)
}

/** `{}` stands for what the branches say, and keeps its place among the others. */
function withoutPlaceholders(common: Record<string, Schema | false>, own: object): typeof common {
  return Object.fromEntries(
    Object.entries(common).filter(([key, schema]) => key in own || Object.keys(schema).length > 0),
  )
}

function writeArray({ minItems, maxItems }: Schema, item: string): string {
  if (minItems === 2 && maxItems === 2) return `[${item}, ${item}]`
  return /[ |{]/.test(item) ? `(${item})[]` : `${item}[]`
}

/** Of something that may be null it stands with what it otherwise is. */
function findDescription(schema: Schema | false): string | undefined {
  if (schema === false) return undefined
  return schema.description ?? schema.anyOf?.find(({ type }) => type !== 'null')?.description
}

/** Ends with a line break, if there is anything to say. */
export function writeComment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */\n`
}

function toPascal(text: string): string {
  return text
    .toLowerCase()
    .split(/[^a-z]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
