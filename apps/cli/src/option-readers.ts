import { parseDuration, parseTimestamp, plainBounds } from '@automation/engine'
import { InvalidArgumentError } from 'commander'
import { Type } from 'typebox'
import { Convert, Errors } from 'typebox/value'

// Parsers of options and arguments. Commander calls them, and names the option in their error messages.

/** Reads a text by a schema. Where the API has the same input, it is the schema of the API. */
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

/** Converts the id to lower case: the encryption of a secret is bound to the exact text of the id. */
export function readId(text: string): string {
  return checkValue(Id, text).toLowerCase()
}

/** Returns milliseconds. */
export function readDuration(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds !== undefined) return milliseconds
  throw new InvalidArgumentError('It must be a duration such as 90s, 24h or 30d, and at most 366 days.')
}

/** Returns epoch ms. */
export function readTimestamp(text: string): number {
  const milliseconds = parseTimestamp(text)
  if (!Number.isNaN(milliseconds)) return milliseconds
  throw new InvalidArgumentError('It must be an ISO 8601 date, or a time with a zone.')
}

/** The allowed values, for help texts. */
export function listChoices(schema: { enum: readonly string[] }): string {
  return schema.enum.join(', ')
}

const Id = Type.String({ format: 'uuid', description: 'a UUID' })

function checkValue<Schema extends Type.TSchema>(schema: Schema, value: unknown): Type.Static<Schema> {
  const fault = Errors(schema, value)[0]
  if (fault === undefined) return value as Type.Static<Schema>
  if (fault.keyword === 'enum')
    throw new InvalidArgumentError(`It must be one of ${fault.params.allowedValues.join(', ')}.`)
  const { description } = schema as { description?: string }
  // Users should not have to read a regular expression: schemas with a pattern describe it in words.
  const isDescribed = (fault.keyword === 'pattern' || fault.keyword === 'format') && description !== undefined
  throw new InvalidArgumentError(
    isDescribed ? `It must be ${description}.` : `It ${plainBounds(fault.message, schema)}.`,
  )
}
