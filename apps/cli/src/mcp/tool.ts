import type { Client, OperationName, Operations, RequestOptions } from '@automation/client'
import { CommandError } from '../command-error.js'
import { type ApiDocument, findInput, type InputPlaces, type Schema } from './api-document.js'

export type Input = Record<string, unknown>

export interface Tool {
  name: string
  description: string
  inputSchema: Schema
  /** Whether it changes nothing. */
  isReading: boolean
  call: (client: Client, input: Input, options: RequestOptions) => Promise<unknown>
}

/** A tool before its schema is read from the document of the API. */
export type ToolMaker = (document: ApiDocument) => Tool

/** The inputs of an operation, none of them checked: the API does that. */
type Given<Name extends OperationName> = {
  [Place in keyof Omit<Operations[Name], 'answers'>]-?: NonNullable<Operations[Name][Place]>
}

interface Description<Name extends OperationName> {
  operation: Name
  description: string
  /** Fields of the operation that the tool sets itself. */
  sets?: string[]
  /** Fields of the tool that the operation does not have. */
  adds?: Record<string, Schema>
  isReading?: boolean
  call: (client: Client, given: Given<Name>, options: RequestOptions, input: Input) => PromiseLike<unknown>
}

/** A tool that is one operation of the API. */
export function makeTool<Name extends OperationName>(
  name: string,
  { operation, description, sets = [], adds = {}, isReading = true, call }: Description<Name>,
): ToolMaker {
  return (document) => {
    const { places, schema } = findInput(document, operation, sets)
    const inputSchema = { ...schema, properties: { ...schema.properties, ...adds } }
    return {
      name,
      description,
      inputSchema,
      isReading,
      call: async (client, input, options) => {
        refuseUnknown(inputSchema, input)
        return call(client, distribute(places, input) as unknown as Given<Name>, options, input)
      },
    }
  }
}

/** What would be ignored is refused, and so is what would lead to another operation. The API checks all else. */
export function refuseUnknown({ properties = {}, required = [] }: Schema, input: Input): void {
  const names = Object.keys(properties)
  const unknown = Object.keys(input).filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new CommandError(`Unknown: ${unknown.join(', ')}. The tool takes ${names.join(', ') || 'nothing'}.`)
  const missing = required.filter((name) => input[name] === undefined || input[name] === '')
  if (missing.length > 0) throw new CommandError(`Missing: ${missing.join(', ')}.`)
}

function distribute(places: InputPlaces, input: Input): Record<keyof InputPlaces, Input> {
  const pick = (names: string[]) =>
    Object.fromEntries(names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]))
  return { path: readParts(pick(places.path)), query: pick(places.query), body: pick(places.body) }
}

/** @throws CommandError for a part that would lead to another operation */
function readParts(parts: Input): Input {
  for (const [name, part] of Object.entries(parts))
    if (typeof part !== 'string' || /^\.{1,2}$/.test(part))
      throw new CommandError(`${name} must be an id or a name, in quotes.`)
  return parts
}
