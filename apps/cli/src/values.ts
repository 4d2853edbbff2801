import { parseDuration } from '@automation/engine'
import { InvalidArgumentError } from 'commander'
import { Type } from 'typebox'
import { Convert, Errors } from 'typebox/value'

// Readers of options and arguments: commander calls them, and tells which one had the fault.

/** Reads a text by a schema: that of the API, where it takes the same thing. */
export function readAs<Schema extends Type.TSchema>(schema: Schema): (text: string) => Type.Static<Schema> {
  return (text) => checkValue(schema, Convert(schema, text))
}

/** Reads `a,b,c`. */
export function readListOf<Schema extends Type.TSchema>(
  schema: Schema,
): (text: string) => Type.Static<Schema> {
  return (text) =>
    checkValue(
      schema,
      text.split(',').map((item) => item.trim()),
    )
}

/** In small letters: a secret is sealed for the id as it is written. */
export function readId(text: string): string {
  return checkValue(Id, text).toLowerCase()
}

/** As milliseconds. */
export function readDuration(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds !== undefined) return milliseconds
  throw new InvalidArgumentError('It has to be a duration such as 90s, 24h or 30d, and at most 366 days.')
}

/** What a user may choose from, for the help. */
export function listChoices(schema: { enum: readonly string[] }): string {
  return schema.enum.join(', ')
}

const Id = Type.String({ format: 'uuid', description: 'a UUID' })

function checkValue<Schema extends Type.TSchema>(schema: Schema, value: unknown): Type.Static<Schema> {
  const fault = Errors(schema, value)[0]
  if (fault === undefined) return value as Type.Static<Schema>
  if (fault.keyword === 'enum')
    throw new InvalidArgumentError(`It has to be one of ${fault.params.allowedValues.join(', ')}.`)
  const { description } = schema as { description?: string }
  // A regular expression says little to people; schemas that have one say in words what it is for.
  const isWorded = (fault.keyword === 'pattern' || fault.keyword === 'format') && description !== undefined
  throw new InvalidArgumentError(isWorded ? `It has to be ${description}.` : `It ${fault.message}.`)
}
