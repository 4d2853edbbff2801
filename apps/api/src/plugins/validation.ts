import type { Fault } from '@automation/engine'
import { createBodyCompiler, formatShapeFaults } from '@automation/rules'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaValidationError } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'

/**
 * Bodies are checked as they are (packages/rules/src/body-shape.ts). A query is text, so it is converted. Path
 * parameters are left to the handlers: an id that fits nothing is a 404.
 */
export default fp(
  async (app) => {
    const compileBody = createBodyCompiler()
    // 1e400 is refused by its maximum, and not let through for being no finite number.
    const queries = new Ajv({ coerceTypes: true, allowUnionTypes: true, strictNumbers: false })
    app.setValidatorCompiler<object>(({ schema, httpPart }) => {
      if (httpPart === 'body') return whenNeeded(() => compileBody(schema))
      if (httpPart === 'querystring') return whenNeeded(() => queries.compile(schema))
      return () => true
    })
  },
  { name: 'validation', dependencies: ['bodies'] },
)

/** Compiling costs milliseconds: a route's check is made for its first request, not for all routes at the start. */
function whenNeeded(compile: () => ValidateFunction) {
  let validate: ValidateFunction | undefined
  const check = (data: unknown): boolean => {
    validate ??= compile()
    const isValid = validate(data)
    check.errors = validate.errors ?? null
    return isValid
  }
  /** Where Fastify looks for them. */
  check.errors = null as ErrorObject[] | null
  return check
}

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
  return formatShapeFaults(validation)
}

/** The first fault of a query as one sentence. */
export function queryFault({ validation = [] }: ValidationFailure): string {
  const error = validation[0]
  return error ? `Query parameter ${error.instancePath.slice(1)} ${error.message}` : 'Invalid query'
}
