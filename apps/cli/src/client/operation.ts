import type { OperationName } from '@automation/client'
import type { Command } from 'commander'
import { type ApiDocument, findInput, type InputPlaces, type Schema } from '../api-document.js'
import { usageError } from '../command-error.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { readId, readSegment } from '../option-readers.js'
import { fill, type Presentation, presentAnswer } from '../present-answer.js'
import { addCommand, exampleId, isForPrograms, print } from '../program.js'
import { readText } from '../read-text.js'
import { guessFormat, readRuleText } from '../rule-text.js'
import { describeBriefly, type Field, flagOf, makeOptions, type Spelling, writeValue } from './fields.js'
import { nameRules } from './name-rules.js'
import { limitOption, readRows } from './read-rows.js'
import { apiVariables, useApi } from './use-api.js'

/** A command that is one operation of the API: its arguments are the path, its options the query and the body. */
export interface Operation extends Presentation {
  /** The group and the command: `keys list`. */
  words: string
  operation: OperationName
  /** Default: the summary of the operation. */
  description?: string
  /** Arguments and options of an example call. Default: an id where there is one. */
  example?: string
  /** Fields of the query or the body that are arguments, after those of the path. The last may be a list. */
  arguments?: readonly string[]
  /** Other names of options; null where the command has none. */
  options?: Readonly<Record<string, Spelling | null>>
  /** Fields of the body whose text is read from a file: a secret is never an argument. */
  files?: readonly string[]
  /** The question before what cannot be undone, with its fields in braces. */
  asks?: string
  /** The option that the question is about. Default: the command as a whole. */
  asksAbout?: string
  /** People see the names of the rules whose ids it has. */
  namesRules?: true
  /** It changes nothing, although it is a POST: its question does not fit into a query. */
  onlyReads?: true
}

export function row(
  words: string,
  operation: OperationName,
  more: Omit<Operation, 'words' | 'operation'> = {},
): Operation {
  return { words, operation, ...more }
}

type Inputs = Record<keyof InputPlaces, Record<string, unknown>>

export function addOperation(group: Command, document: ApiDocument, row: Operation): void {
  const { operation, asks, arguments: positional = [], files = [], options = {} } = row
  const { summary, places, schema, takesTag } = findInput(document, operation)
  const fields = (['path', 'query', 'body'] as const).flatMap((place) =>
    places[place].map((name): Field => {
      return { name, place, schema: schema.properties?.[name] ?? {}, isFile: files.includes(name) }
    }),
  )
  const isPaged = places.query.includes('cursor')
  const given = [
    ...fields.filter(({ place }) => place === 'path'),
    ...positional.flatMap((name) => fields.find((field) => field.name === name) ?? []),
  ]
  const ids = given.filter(isId).map(() => exampleId)
  const command = addCommand(group, {
    name: row.words.split(' ').at(-1) ?? '',
    description: row.description ?? `${summary}.`,
    example: row.example ?? ids.join(' '),
    reads: apiVariables,
    exits: asks === undefined ? [] : ['declined'],
  })
  for (const field of given) {
    const { name, schema } = field
    const word = schema.type === 'array' ? `${flagOf(name)}...` : flagOf(name)
    command.argument(`<${word}>`, describeBriefly(schema), readerOf(field))
  }
  const isFromFile = fields.some(isLarge)
  const keys = new Map<string, Field>()
  for (const field of fields.filter((one) => !given.includes(one))) {
    const spelling = options[field.name]
    if (spelling === null || (isPaged && /^(limit|cursor)$/.test(field.name))) continue
    const made = makeOptions(field, spelling)
    const isRequired = !isFromFile && schema.required?.includes(field.name)
    for (const option of made) command.addOption(isRequired ? option.makeOptionMandatory() : option)
    keys.set(made[0]?.attributeName() ?? '', field)
  }
  if (isPaged) command.option(...limitOption)
  if (isFromFile)
    command.option('--body <file>', 'file with the body, in JSON or YAML; options replace its fields')
  if (takesTag) command.option('--etag <etag>', 'only if its ETag is still this one, which a read shows')
  if (asks !== undefined) command.option(...yesOption)
  command.action(() => runOperation(row, command, { given, keys, isPaged, hasBody: places.body.length > 0 }))
}

interface Shape {
  /** The fields that are arguments, in their order. */
  given: readonly Field[]
  /** Those that are options, by their keys in commander. */
  keys: ReadonlyMap<string, Field>
  isPaged: boolean
  hasBody: boolean
}

async function runOperation(row: Operation, command: Command, shape: Shape): Promise<void> {
  const { operation, asks, asksAbout, namesRules, onlyReads = operation.startsWith('GET') } = row
  const values = command.opts()
  const isAsking = asks !== undefined && (asksAbout === undefined || values[asksAbout] !== undefined)
  const confirm = isAsking ? prepareConfirmation(command) : undefined
  const inputs: Inputs = { path: {}, query: {}, body: await readBody(values.body) }
  const add = async (field: Field, value: unknown) => {
    if (value !== undefined) inputs[field.place][field.name] = await writeValue(value, field)
  }
  for (const [index, field] of shape.given.entries()) await add(field, command.processedArgs[index])
  for (const [key, field] of shape.keys) await add(field, values[key])
  const { query, body } = inputs
  const path = inputs.path as Record<string, string>
  const all = { ...body, ...query, ...path }
  const { answer, shown } = await useApi(onlyReads ? 'read' : 'change', async (client) => {
    await confirm?.(fill(asks ?? '', all))
    const read = (page?: object) =>
      client.call(
        operation,
        { path, query: { ...query, ...page }, ...(shape.hasBody && { body }) },
        { ifTag: values.etag },
      )
    const answer = await (shape.isPaged ? readRows(read, values.limit) : read())
    const shown = namesRules && !isForPrograms(command) ? await nameRules(client, answer) : answer
    return { answer, shown }
  })
  print(command, answer ?? null, presentAnswer(row, shown, all))
}

function readerOf(field: Field): ((text: string) => string) | undefined {
  if (isId(field)) return readId
  return field.place === 'path' ? readSegment : undefined
}

function isId({ schema }: Field): boolean {
  return schema.format === 'uuid'
}

/** More than a line should have. */
function isLarge({ place, schema: { type, items } }: Field): boolean {
  return place === 'body' && (type === 'object' || (type === 'array' && (items as Schema).type === 'object'))
}

async function readBody(path: string | undefined): Promise<Record<string, unknown>> {
  if (path === undefined) return {}
  const { json } = readRuleText(await readText(path), path, guessFormat(path))
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw usageError(`${path} must have one object.`)
  return { ...json }
}
