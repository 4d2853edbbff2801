import { describeNearest, type Fault, plainBounds } from '@automation/engine'
import { createBodyCompiler, formatShapeFaults } from '@automation/rules'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'

/**
 * Bodies are checked as they are (packages/rules/src/body-shape.ts). A query is text, so it is converted. A query parameter that the
 * operation does not have is refused: a `dryRun=true` that is ignored runs for real. Path parameters are left to the handlers: an id that
 * fits nothing is a 404.
 */
export default fp(
  async (app) => {
    const compileBody = createBodyCompiler()
    // Without strictNumbers, 1e400 reaches the check of its maximum, and is refused there.
    const queries = new Ajv({
      coerceTypes: true,
      allowUnionTypes: true,
      strictNumbers: false,
      verbose: true,
      keywords: ['patternError'],
      // As for bodies: our own schemas are valid.
      meta: false,
      validateSchema: false,
    })
    const compileQuery = (schema: object) => queries.compile({ ...schema, additionalProperties: false })
    app.setValidatorCompiler<object>(({ schema, httpPart }) => {
      if (httpPart === 'body') return compileLazily(() => compileBody(schema))
      if (httpPart === 'querystring') return compileLazily(() => compileQuery(schema))
      return () => true
    })
    // Senders of webhooks and load balancers may add parameters of their own: their routes have no role.
    app.addHook('onRoute', (route) => {
      if (route.config?.role !== undefined)
        route.schema = { ...route.schema, querystring: route.schema?.querystring ?? noQuery }
    })
  },
  { name: 'validation', dependencies: ['bodies'] },
)

const noQuery = { type: 'object', properties: {} }

/** To compile a schema takes milliseconds: it is compiled for the route's first request, and not at the start. */
function compileLazily(compile: () => ValidateFunction) {
  let validate: ValidateFunction | undefined
  const check = (data: unknown): boolean => {
    validate ??= compile()
    const isValid = validate(data)
    check.errors = validate.errors ?? null
    return isValid
  }
  /** Fastify reads the errors here. */
  check.errors = null as ErrorObject[] | null
  return check
}

interface ValidationFailure {
  validation?: FastifySchemaValidationError[]
}

/**
 * Formats Ajv's errors as faults of the API, at paths such as `conditions[0].operator`.
 *
 * @param most beyond so many, a last fault says that there are more
 * @throws a 400 refusal where the body is no object at all
 */
export function bodyFaults(failure: ValidationFailure, most?: number): Fault[] {
  const { validation = [] } = failure
  // An interrupted check has found no faults, and must not count as passed.
  if (failure instanceof Error && failure.validation === undefined) throw failure
  if (isNoObject(failure)) throw refusals.bodyNotAnObject()
  return formatShapeFaults(validation, most)
}

/** Whether the body is no object at all, or there is none. */
export function isNoObject({ validation = [] }: ValidationFailure): boolean {
  return validation.some(({ instancePath, keyword }) => instancePath === '' && keyword === 'type')
}

/** Formats the first fault of a query as one sentence. */
export function queryFault({ validation = [] }: ValidationFailure, request: FastifyRequest): string {
  const error = validation[0] as (FastifySchemaValidationError & Partial<ErrorObject>) | undefined
  if (error === undefined) return 'Invalid query'
  if (error.keyword === 'enum')
    return `Query parameter ${error.instancePath.slice(1)} must be one of ${[error.params.allowedValues].flat().join(', ')}`
  if (error.keyword !== 'additionalProperties')
    return `Query parameter ${error.instancePath.slice(1)} ${plainBounds(error.message ?? 'is invalid', error.parentSchema)}`
  const name = String(error.params.additionalProperty)
  const { properties = {} } = (error.parentSchema ?? {}) as { properties?: object }
  return `Query parameter ${name.slice(0, 100)} is unknown. ${hintOf(name, Object.keys(properties), request)}`
}

function hintOf(name: string, known: string[], { routeOptions }: FastifyRequest): string {
  const { properties = {} } = (routeOptions.schema?.body ?? {}) as { properties?: object }
  if (Object.hasOwn(properties, name)) return `${name} is a field of the body`
  if (known.length === 0) return 'This operation has none'
  return describeNearest(name, known, known.join(', '))
}
