import { type Fault, sharedSchemas } from '@automation/engine'
import { Ajv } from 'ajv'
import type { FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'

/**
 * Bodies are checked as they are: no coercion, no silent removal, no defaults, every fault at once. `discriminator`
 * lets Ajv follow the one branch that a tag names, so a fault is told once and at its own path. A query is text, so
 * it is converted. Path parameters are left to the handlers: an id that fits nothing is a 404.
 */
export default fp(async (app) => {
  const bodies = new Ajv({
    allErrors: true,
    discriminator: true,
    strictTypes: false,
    schemas: [...sharedSchemas],
  })
  // Ajv's own calls what it compares by `toString`, and throws where a body has a field of that name.
  bodies.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (isWanted: boolean, items: unknown[]) =>
      !isWanted || new Set(items.map((item) => JSON.stringify(item))).size === items.length,
    error: { message: 'must hold each item once' },
  })
  // 1e400 is refused by its maximum, and not let through for being no finite number.
  const queries = new Ajv({ coerceTypes: true, allowUnionTypes: true, strictNumbers: false })
  app.setValidatorCompiler<object>(({ schema, httpPart }) => {
    if (httpPart === 'body') return bodies.compile(schema)
    if (httpPart === 'querystring') return queries.compile(schema)
    return () => true
  })
})

interface ValidationFailure {
  validation?: FastifySchemaValidationError[]
}

/**
 * Ajv's errors as the interface tells them: one entry a fault, paths such as `conditions[0].operator`.
 *
 * @throws a 400 refusal where the body is no object at all
 */
export function bodyFaults(failure: ValidationFailure): Fault[] {
  const { validation = [] } = failure
  // A check that was cut off has found nothing, and must not be taken for one that has passed.
  if (failure instanceof Error && failure.validation === undefined) throw failure
  if (validation.some((error) => error.instancePath === '' && error.keyword === 'type'))
    throw refusals.bodyNotAnObject()
  const faults = new Map<string, Fault>()
  for (const error of validation) {
    const fault = faultOf(error)
    if (fault) faults.set(`${fault.field}\n${fault.message}`, fault)
  }
  return [...faults.values()]
}

/** The first fault of a query as one sentence. */
export function queryFault({ validation = [] }: ValidationFailure): string {
  const error = validation[0]
  return error ? `Query parameter ${error.instancePath.slice(1)} ${error.message}` : 'Invalid query'
}

function faultOf({
  keyword,
  instancePath,
  params,
  message,
}: FastifySchemaValidationError): Fault | undefined {
  const field = fieldOf(instancePath)
  switch (keyword) {
    case 'if':
      return undefined
    case 'required':
      return { field: join(field, String(params.missingProperty)), message: 'Required' }
    case 'false schema':
      return { field, message: 'Unknown field' }
    case 'additionalProperties':
      return { field: join(field, String(params.additionalProperty)), message: 'Unknown field' }
    case 'discriminator': {
      const missing = params.tagValue === undefined
      const tag = String(params.tag)
      return { field: join(field, tag), message: missing ? 'Required' : `Unknown ${tag}` }
    }
    case 'enum':
      return { field, message: `Must be one of ${(params.allowedValues as unknown[]).join(', ')}` }
    default:
      return { field, message: sentence(message ?? 'is invalid') }
  }
}

/** `/actions/1/config/to` as `actions[1].config.to`. */
function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((field, segment) => (/^\d+$/.test(segment) ? `${field}[${segment}]` : join(field, segment)), '')
}

function join(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`
}

function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
