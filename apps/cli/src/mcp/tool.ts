import type { Client, OperationName, RequestOptions } from '@automation/client'
import { type ApiDocument, findInput, type InputPlaces, type Schema } from '../api-document.js'
import { CommandError } from '../command-error.js'
import { readFittingPage } from './fit-data.js'

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

interface Special {
  /** Fields of the operation that the tool sets itself. */
  sets?: Input
  /** Fields of the tool that the operation does not have. */
  adds?: Record<string, Schema>
  isReading?: boolean
  /** Seconds that the API waits for what it computes. */
  wait?: number
  /** Instead of the operation. */
  call?: (client: Client, given: Given, options: RequestOptions, input: Input) => PromiseLike<unknown>
}

/** None of it is checked: the API does that. */
interface Given extends Omit<Record<keyof InputPlaces, Input>, 'path'> {
  path: Record<string, string>
}

/** A tool that is one operation of the API. */
export function makeTool(
  name: string,
  operation: OperationName,
  description: string,
  { sets = {}, adds = {}, isReading = true, wait, call }: Special = {},
): ToolMaker {
  return (document) => {
    const { places, schema } = findInput(document, operation, Object.keys(sets))
    const inputSchema = { ...schema, properties: { ...schema.properties, ...adds } }
    return {
      name,
      description,
      inputSchema,
      isReading,
      call: async (client, input, options) => {
        refuseUnknown(inputSchema, input)
        const ask = async (fields: Input) => {
          const given = distribute(places, { ...fields, ...sets })
          if (call !== undefined) return call(client, given, options, fields)
          const { path, query, body } = given
          const request = { path, query, ...(places.body.length > 0 && { body }) }
          return client.call(operation, request, { ...options, wait })
        }
        const { limit, cursor } = inputSchema.properties
        if (limit === undefined || cursor === undefined) return ask(input)
        return readFittingPage(
          (fitting) => ask(fitting === undefined ? input : { ...input, limit: fitting }),
          typeof limit.maximum === 'number' ? limit.maximum : fewestRows,
        )
      },
    }
  }
}

/** A limit that each list accepts. */
const fewestRows = 50

/** What would be ignored is refused, and so is what would lead to another operation. The API checks all else. */
export function refuseUnknown({ properties = {}, required = [] }: Schema, input: Input): void {
  const names = Object.keys(properties)
  const unknown = Object.keys(input).filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new CommandError(`Unknown: ${unknown.join(', ')}. The tool takes ${names.join(', ') || 'nothing'}.`)
  const missing = required.filter((name) => input[name] === undefined || input[name] === '')
  if (missing.length > 0) throw new CommandError(`Missing: ${missing.join(', ')}.`)
}

function distribute(places: InputPlaces, input: Input): Given {
  const pick = (names: string[]) =>
    Object.fromEntries(names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]))
  return { path: readParts(pick(places.path)), query: pick(places.query), body: pick(places.body) }
}

/** @throws CommandError for a part that would lead to another operation */
function readParts(parts: Input): Record<string, string> {
  for (const [name, part] of Object.entries(parts))
    if (typeof part !== 'string' || /^\.{1,2}$/.test(part))
      throw new CommandError(`${name} must be an id or a name, in quotes.`)
  return parts as Record<string, string>
}
