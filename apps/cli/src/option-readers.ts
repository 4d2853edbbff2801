import {
  compileShape,
  findDurationFault,
  parseDuration,
  parseTimestamp,
  uncapitalize,
} from '@automation/engine'
import { InvalidArgumentError } from 'commander'
import { Type } from 'typebox'
import { Convert } from 'typebox/value'

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

/** Takes an option that may be repeated. */
export function readAnother(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

/** Converts the id to lower case: the encryption of a secret is bound to the exact text of the id. */
export function readId(text: string): string {
  return checkValue(Id, text).toLowerCase()
}

/** Part of the path of a URL: an empty one, and these, would lead to another operation. */
export function readSegment(text: string): string {
  if (!/^\.{0,2}$/.test(text)) return text
  throw new InvalidArgumentError('It must be a name.')
}

/** Returns milliseconds. */
export function readDuration(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds !== undefined) return milliseconds
  throw new InvalidArgumentError(`It ${findDurationFault(text)}.`)
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

export function isId(text: string): boolean {
  return compileShape(Id)(text).length === 0
}

const Id = Type.String({
  pattern: '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  patternError: 'be a UUID',
})

function checkValue<Schema extends Type.TSchema>(schema: Schema, value: unknown): Type.Static<Schema> {
  const [fault] = compileShape(schema)(value)
  if (fault === undefined) return value as Type.Static<Schema>
  // However many there are: a command has no page to look them up.
  const { enum: allowed } = ('items' in schema ? schema.items : schema) as { enum?: readonly string[] }
  const isOther = fault.message.startsWith('Must be one of')
  throw new InvalidArgumentError(
    `It ${isOther && allowed ? `must be one of ${listChoices({ enum: allowed })}` : uncapitalize(fault.message)}.`,
  )
}
