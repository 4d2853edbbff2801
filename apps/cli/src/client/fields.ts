import { readJson, uncapitalize } from '@automation/engine'
import { InvalidArgumentError, Option } from 'commander'
import { Type } from 'typebox'
import { type InputPlaces, listTypes, type Schema } from '../api-document.js'
import { usageError } from '../command-error.js'
import { readAnother, readAs } from '../option-readers.js'
import { readText } from '../read-text.js'

/** A field of an operation as people write it: its flag, or more of it. */
export type Spelling = string | { flag: string; description: string; read: (text: string) => unknown }

export interface Field {
  name: string
  place: keyof InputPlaces
  schema: Schema
  /** Whether its text is in a file. */
  isFile: boolean
}

/** Names of the API that are shorter here, in all commands. */
const shorter: Readonly<Record<string, string>> = {
  eventType: 'type',
  ruleId: 'rule',
  eventId: 'event',
  executionId: 'execution',
  subscriptionId: 'subscription',
  assigneeId: 'assignee',
  q: 'text',
  isActive: 'active',
  error: 'error-text',
}

/** A number that is left out by this word is the default of the service. */
const nothing = 'none'

/** The options of a field: a boolean has two. */
export function makeOptions(field: Field, spelling: Spelling = flagOf(field.name)): Option[] {
  if (typeof spelling === 'object') {
    const { flag, description, read } = spelling
    return [new Option(`--${flag}`, description).argParser(read)]
  }
  const description = describeField(field)
  if (field.isFile)
    return [
      new Option(
        `--${spelling}-file <path>`,
        `file with the ${field.name}; - reads standard input: ${description}`,
      ),
    ]
  const [type = 'object', ...others] = listTypes(field.schema).filter((one) => one !== 'null')
  if (type === 'boolean')
    return [new Option(`--${spelling}`, description), new Option(`--no-${spelling}`, 'the opposite')]
  const isJson = others.length > 0 || (type === 'array' && !isOfTexts(field.schema))
  const { placeholder, read } = isJson ? kinds.object : (kinds[type] ?? kinds.object)
  const word = type === 'string' ? placeholderOf(field, spelling) : placeholder
  const option = new Option(`--${spelling} <${word}>`, description).argParser(read(field))
  // The API refuses others, and its message names the nearest: help and completion need them.
  if (valuesOf(field).length > 0) option.argChoices = valuesOf(field)
  return [option]
}

/** Of a field that is a text; a name that people know stays as it is. */
export function flagOf(name: string): string {
  return shorter[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The value for the request. */
export async function writeValue(value: unknown, { schema, isFile }: Field): Promise<unknown> {
  if (isFile) return readTextFile(String(value))
  return value === nothing && listTypes(schema).includes('null') ? null : value
}

/** Without the line break that ends it, which editors and echo add. */
async function readTextFile(path: string): Promise<string> {
  if (path === '-' && process.stdin.isTTY) throw usageError('Pipe the text into the command, or name a file.')
  return (await readText(path)).replace(/\r?\n$/, '')
}

interface Kind {
  placeholder: string
  // biome-ignore lint/suspicious/noExplicitAny: the values of options have no type in commander
  read: (field: Field) => (text: string, before: any) => any
}

const readNumber =
  (type: typeof Type.Integer | typeof Type.Number) =>
  ({ schema }: Field) => {
    const { minimum, maximum } = schema as { minimum?: number; maximum?: number }
    const bounds = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
    const isNullable = listTypes(schema).includes('null')
    return (text: string) => (isNullable && text === nothing ? nothing : readAs(type(bounds))(text))
  }

/** The API checks texts, and says which ones it accepts. */
const kinds: Record<string, Kind> & { object: Kind } = {
  string: { placeholder: 'text', read: () => (text) => text },
  integer: { placeholder: 'number', read: readNumber(Type.Integer) },
  number: { placeholder: 'number', read: readNumber(Type.Number) },
  array: {
    placeholder: 'values',
    read: ({ place }) =>
      place === 'query' ? readAnother : (text) => text.split(',').map((item) => item.trim()),
  },
  object: { placeholder: 'json', read: () => readJsonText },
}

function readJsonText(text: string): unknown {
  try {
    return readJson(text).value
  } catch (error) {
    throw new InvalidArgumentError(`It is not valid JSON: ${(error as Error).message}.`)
  }
}

function placeholderOf({ name, schema }: Field, flag: string): string {
  if (/Ids?$/.test(name)) return 'id'
  return /ISO 8601/.test(schema.description ?? '') ? 'time' : (flag.split('-').at(-1) ?? 'text')
}

function describeField({ place, schema }: Field): string {
  const description = describeBriefly(schema)
  const isList = schema.type === 'array' && place === 'body' && isOfTexts(schema)
  const more = [
    ...(isList ? ['separated by commas'] : []),
    ...(listTypes(schema).includes('null') && /integer|number/.test(`${schema.type}`)
      ? [`${nothing} for null`]
      : []),
  ]
  return [description, ...more].filter((part) => part !== '').join('; ')
}

/** The first sentence of its description, and what its default is. */
export function describeBriefly({ description = '' }: Schema): string {
  const [first = '', ...others] = description.replace(/\.$/, '').split(/\. (?=[A-Z])/)
  const isWord = /^[A-Z][a-z]/.test(first)
  return [isWord ? uncapitalize(first) : first, ...others.filter((one) => one.startsWith('Default'))].join(
    '. ',
  )
}

function isOfTexts({ items }: Schema): boolean {
  return listTypes(items as Schema).includes('string')
}

function valuesOf({ schema }: Field): string[] {
  const { enum: values = [] } = (schema.items ?? schema) as { enum?: string[] }
  return values
}
