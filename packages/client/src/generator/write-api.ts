import { listOperations, type OpenApi, type Operation, type Parameter, schemaOf } from './document.js'
import { findNouns } from './nouns.js'
import { createTypeWriter, type TypeWriter, writeComment } from './write-type.js'

/**
 * The API judges a body's shape before its words, so it takes any text where an event type is meant, and refuses it in
 * its own words. A caller may know earlier.
 */
const sharper = {
  'RuleToCreate.trigger': 'EventType',
  'RuleToUpdate.trigger': 'EventType',
}
const sharperParameters: Record<string, string> = { eventType: 'EventType' }

const head = `// Written by packages/client/src/generator from docs/openapi.json, which follows from the API's routes: do not edit it.
`

/** The text of src/api.ts, not yet formatted. */
export function writeApi(document: OpenApi): string {
  const nouns = findNouns(document)
  const types = createTypeWriter(nouns, sharper)
  const operations = listOperations(document)
  const keyed = operations.filter(([, { parameters = [] }]) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  )
  return [
    head,
    ...[...nouns].map(([name, schema]) => types.declare(name, schema)),
    `/** Every operation of the API: what it takes, and what it answers by status. Refusals are ApiErrors. */
export interface Operations { ${operations.map((one) => writeOperation(types, ...one)).join('\n\n')} }`,
    `/** The operations that are done once, however often they are sent under one Idempotency-Key. */
export const keyedOperations: ReadonlySet<keyof Operations> = new Set([${keyed.map(([name]) => `'${name}'`).join(', ')}] as const)`,
    '',
  ].join('\n\n')
}

function writeOperation(
  types: TypeWriter,
  name: string,
  { summary, parameters = [], requestBody, responses }: Operation,
): string {
  const path = writeParameters(types, parameters, 'path')
  const query = writeParameters(types, parameters, 'query')
  const body = requestBody && schemaOf(requestBody)
  const answers = Object.entries(responses)
    .filter(([status]) => Number(status) < 300)
    .map(([status, response]) => `${status}: ${writeAnswer(types, response)}`)
  return [
    `${writeComment(summary)}'${name}': {`,
    path === '' ? '' : `path: {\n${path}\n}`,
    query === '' ? '' : `query?: {\n${query}\n}`,
    body ? `body${requestBody.required ? '' : '?'}: ${types.write(body)}` : '',
    `answers: {\n${answers.join('\n')}\n}`,
    '}',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function writeAnswer(types: TypeWriter, response: Operation['responses'][string]): string {
  const schema = schemaOf(response)
  return schema === undefined ? 'undefined' : types.write(schema)
}

function writeParameters(types: TypeWriter, parameters: Parameter[], place: 'path' | 'query'): string {
  return parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, required, description }) => {
      const type = place === 'path' ? (sharperParameters[name] ?? types.write(schema)) : types.write(schema)
      return `${writeComment(description)}${name}${required ? '' : '?'}: ${type}`
    })
    .join('\n')
}
