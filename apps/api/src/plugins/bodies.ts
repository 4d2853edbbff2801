import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import {
  type Fault,
  listLongFaults,
  listRepeatedFaults,
  mayHaveLongNumber,
  readJson,
} from '@automation/engine'
import { findUnstorable, hasTooManyValues, maxNodes, TooLarge } from '@automation/rules'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findCallerRefusal } from '../access/find-caller-refusal.js'
import { refusals } from '../errors.js'
import { takesText } from '../long-numbers.js'
import { type BodyOwner, strangerAt } from './body-budget.js'
import { findPathRefusal } from './not-found.js'
import { readBody } from './read-body.js'
import { bodyFaults, queryFault } from './validation.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Faults that schemas cannot find; undefined where there are none. */
    unstorable: Fault[] | undefined
  }
  interface FastifyContextConfig {
    /** The route checks each part of its body with findUnstorableValues: a faulty part is refused, and the others are not. */
    evaluatesParts?: boolean
  }
}

/** Accepts JSON only. An empty body with a JSON content type counts as no body. */
export default fp(
  async (app) => {
    app.decorateRequest('unstorable', undefined)
    app.decorateRequest('bodyText', undefined)
    app.decorateRequest('longNumbers', undefined)
    app.addHook('preHandler', (request, _reply, done) => {
      const { unstorable, validationError } = request
      const [field] = hasNoBody(request) ? listFields(request.body) : []
      if (field !== undefined) {
        done(refusals.invalid([{ field, message: 'Unknown field. This request has no body' }]))
        return
      }
      // The body is checked first. A handler that formats the faults of its body does not see those of the query.
      if (validationError?.validationContext !== 'querystring')
        done(unstorable && refusals.invalid([...unstorable, ...bodyFaults(validationError ?? {})]))
      else if (unstorable) done(refusals.invalid(unstorable))
      else done(refusals.badRequest(queryFault(validationError, request)))
    })
    app.removeAllContentTypeParsers()
    const parseJson = app.getDefaultJsonParser('error', 'error')
    app.addContentTypeParser(
      'application/json',
      async (request: FastifyRequest, payload: IncomingMessage) => {
        const text = decodeBody(await readBody(request, payload, () => admit(request)))
        if (text.length === 0) return undefined
        // It is read again where its caller and its size are known.
        if (!bringsEvents(request) || mayHaveLongNumber(text)) request.bodyText = text
        return new Promise((resolve, reject) => {
          parseJson(request, text, (error, value) =>
            error ? reject(refusals.bodyNotJson(text)) : resolve(value),
          )
        })
      },
    )
  },
  { name: 'bodies', dependencies: ['body-budget'] },
)

/** Of a name that data has twice the last one counts, as in most programs. Elsewhere it is refused: the other one would be lost in silence. */
function bringsEvents({ routeOptions: { config } }: FastifyRequest): boolean {
  return config?.key === 'event' || config?.key === 'parts'
}

/** Such a route documents how it refuses one. */
function hasNoBody({ is404, routeOptions: { schema } }: FastifyRequest): boolean {
  const { 422: refusal } = (schema?.response ?? {}) as Record<number, unknown>
  return !is404 && schema?.body === undefined && refusal !== undefined
}

/** What is no object is one field without a name. */
function listFields(body: unknown): string[] {
  if (body === undefined || Buffer.isBuffer(body)) return []
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.keys(body) : ['']
}

/** @returns who pays for the body @throws what refuses the request whatever its body says: it is not read then */
function admit(request: FastifyRequest): BodyOwner {
  const refusal = request.is404 ? findPathRefusal(request) : findCallerRefusal(request, false)
  if (refusal) throw refusal
  const workspaceId = request.bucketOwner?.tenant?.workspaceId
  return workspaceId === undefined ? strangerAt(request.ip) : { key: workspaceId }
}

/** A decoder that replaces what is not UTF-8 would change data, and make different bodies the same. @throws a 400 refusal */
export function decodeBody(body: Buffer): string {
  if (!isUtf8(body)) throw refusals.bodyNotUtf8(body)
  return body.toString()
}

/** For a route whose body is optional: an omitted body is checked like an empty object. */
export async function fillMissingBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}

/**
 * Notes texts that Postgres cannot store (with NUL, or half a surrogate pair), names that are there twice, and constants with more digits than a
 * number keeps. They are reported together with the faults of shape.
 *
 * @throws a 422 refusal at once where the body is so deep or large that checking its shape could do harm
 */
export function noteUnstorable(request: FastifyRequest): void {
  if (typeof request.body !== 'object' || request.body === null) return
  if (request.routeOptions.config?.evaluatesParts) {
    refuseTooManyValues(request.body)
    keepLongNumbers(request)
    return
  }
  const unstorable = findUnstorableValues(request.body)
  const { bodyText } = request
  const repeated = bodyText === undefined || bringsEvents(request) ? [] : listRepeatedFaults(bodyText)
  keepLongNumbers(request)
  const faults = [...unstorable, ...repeated, ...listLongFaults(request.longNumbers ?? [])]
  if (faults.length > 0) request.unstorable = faults
}

/** Gives numbers of data back the digits that a double has lost. */
function keepLongNumbers(request: FastifyRequest): void {
  const { bodyText } = request
  if (bodyText === undefined) return
  request.bodyText = undefined
  if (!mayHaveLongNumber(bodyText)) return
  const { value, longNumbers } = readJson(bodyText, takesText)
  if (longNumbers.length === 0) return
  request.body = value
  request.longNumbers = longNumbers
}

/**
 * Finds texts that Postgres cannot store, at most 20.
 *
 * @param root path of the value within the body
 * @throws a 422 refusal where the value is too deep or too large
 */
export function findUnstorableValues(body: unknown, root = ''): Fault[] {
  try {
    return findUnstorable(body, root)
  } catch (error) {
    throw error instanceof TooLarge ? refusals.invalid([error.fault]) : error
  }
}

/** The limit of values applies to the whole body; the limit of depth applies to each part. */
function refuseTooManyValues(body: object): void {
  if (hasTooManyValues(body))
    throw refusals.invalid([{ field: '', message: `Body has more than ${maxNodes} values` }])
}
