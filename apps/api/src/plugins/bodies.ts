import type { Fault } from '@automation/engine'
import {
  findUnstorable as findUnstorableTexts,
  hasTooManyValues,
  maxNodes,
  TooLarge,
} from '@automation/rules'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'
import { bodyFaults } from './validation.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Faults that schemas cannot see; undefined where there are none. */
    unstorable: Fault[] | undefined
  }
  interface FastifyContextConfig {
    /** The route judges its body part by part, with findUnstorable: a faulty part refuses itself, and not the others. */
    judgesParts?: boolean
  }
}

/** Only JSON comes in, and an empty body under a JSON content type counts as none. */
export default fp(
  async (app) => {
    app.decorateRequest('unstorable', undefined)
    app.addHook('preHandler', ({ unstorable, validationError }, _reply, done) => {
      done(unstorable && refusals.invalid([...unstorable, ...bodyFaults(validationError ?? {})]))
    })
    app.removeAllContentTypeParsers()
    const parseJson = app.getDefaultJsonParser('error', 'error')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body.length === 0) done(null, undefined)
      else parseJson(request, body as string, done)
    })
  },
  { name: 'bodies' },
)

/** For a route whose body may be left out: it is then checked, and told in the document, like an empty one. */
export async function fillMissingBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}

/**
 * Notes what Postgres cannot store (NUL, half a surrogate pair), to be told together with the faults of shape.
 *
 * @throws a 422 refusal at once where the body is so deep or large that checking its shape could do harm
 */
export function noteUnstorable(request: FastifyRequest): void {
  if (typeof request.body !== 'object' || request.body === null) return
  if (request.routeOptions.config?.judgesParts) {
    refuseTooManyValues(request.body)
    return
  }
  const faults = findUnstorable(request.body)
  if (faults.length > 0) request.unstorable = faults
}

/**
 * What Postgres cannot store, at most 20 faults.
 *
 * @param root path of the value within the body
 * @throws a 422 refusal where the value is too deep or too large
 */
export function findUnstorable(body: unknown, root = ''): Fault[] {
  try {
    return findUnstorableTexts(body, root)
  } catch (error) {
    throw error instanceof TooLarge ? refusals.invalid([error.fault]) : error
  }
}

/** How deep a part may be is its own matter; how many values there are is that of the whole. */
function refuseTooManyValues(body: object): void {
  if (hasTooManyValues(body))
    throw refusals.invalid([{ field: '', message: `Body has more than ${maxNodes} values` }])
}
