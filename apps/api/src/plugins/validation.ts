import {
  compileShape,
  cutText,
  describeNearest,
  type Fault,
  limitFaults,
  uncapitalize,
} from '@automation/engine'
import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'

/**
 * Bodies are checked as they are (compileShape of packages/engine). A query is text, so it is converted. A query parameter that the
 * operation does not have is refused: a `dryRun=true` that is ignored runs for real. Path parameters are left to the handlers: an id that
 * fits nothing is a 404.
 */
export default fp(
  async (app) => {
    app.setValidatorCompiler<Schema>(({ schema, httpPart }) => {
      if (httpPart === 'body') return check(compileShape(schema))
      if (httpPart !== 'querystring') return () => true
      const findFaults = compileShape({ ...schema, additionalProperties: false })
      return check((query) => findFaults(readQuery(query as Record<string, unknown>, schema)))
    })
    // Senders of webhooks and load balancers may add parameters of their own: their routes have no role.
    app.addHook('onRoute', (route) => {
      if (route.config?.role !== undefined)
        route.schema = { ...route.schema, querystring: route.schema?.querystring ?? noQuery }
    })
  },
  { name: 'validation', dependencies: ['bodies'] },
)

interface Schema {
  properties?: Record<string, { type?: string }>
}

const noQuery = { type: 'object', properties: {} }

function check(findFaults: (value: unknown) => Fault[]) {
  const validate = (value: unknown): boolean => {
    validate.errors = findFaults(value) as object[] as FastifySchemaValidationError[]
    return validate.errors.length === 0
  }
  /** Fastify reads them here, and hands them on (faultsOf). */
  validate.errors = [] as FastifySchemaValidationError[]
  return validate
}

/** Makes numbers, true and false of texts that are such, and a list of one value of a parameter that may be repeated. */
function readQuery(query: Record<string, unknown>, { properties = {} }: Schema): Record<string, unknown> {
  for (const [name, { type = '' }] of Object.entries(properties)) {
    const text = query[name]
    if (type === 'array' && typeof text === 'string') query[name] = [text]
    if (type === 'boolean' && (text === 'true' || text === 'false')) query[name] = text === 'true'
    if (/^(?:integer|number)$/.test(type) && typeof text === 'string' && text.trim() !== '') {
      const number = Number(text)
      if (Number.isFinite(number)) query[name] = number
    }
  }
  return query
}

interface ValidationFailure {
  validation?: FastifySchemaValidationError[]
}

/**
 * The faults of a body that failed its check.
 *
 * @param most beyond so many, a last fault says that there are more
 * @throws a 400 refusal where the body is no object at all
 */
export function bodyFaults(failure: ValidationFailure, most?: number): Fault[] {
  // An interrupted check has found no faults, and must not count as passed.
  if (failure instanceof Error && failure.validation === undefined) throw failure
  if (isNoObject(failure)) throw refusals.bodyNotAnObject()
  return limitFaults(faultsOf(failure), most)
}

/** Whether the body is no object at all, or there is none. */
export function isNoObject(failure: ValidationFailure): boolean {
  return faultsOf(failure).some(({ field, message }) => field === '' && message === 'Must be an object')
}

function faultsOf({ validation = [] }: ValidationFailure): Fault[] {
  return validation as object[] as Fault[]
}

/** Says the first fault of a query as one sentence. */
export function queryFault(failure: ValidationFailure, request: FastifyRequest): string {
  const [fault] = faultsOf(failure)
  if (fault === undefined) return 'Invalid query'
  // An item of one that may be repeated.
  const name = fault.field.replace(/\[\d+\]$/, '')
  const { properties = {} } = (request.routeOptions.schema?.querystring ?? {}) as Schema
  if (Object.hasOwn(properties, name)) return `Query parameter ${name} ${uncapitalize(fault.message)}`
  return `Query parameter ${cutText(name, 100)} is unknown. ${hintOf(name, Object.keys(properties), request)}`
}

function hintOf(name: string, known: string[], { routeOptions }: FastifyRequest): string {
  const { properties = {} } = (routeOptions.schema?.body ?? {}) as Schema
  if (Object.hasOwn(properties, name)) return `${name} is a field of the body`
  if (known.length === 0) return 'This operation has none'
  return describeNearest(name, known, known.join(', '))
}
