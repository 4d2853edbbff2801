import { Refused } from '@automation/access'
import { NotAdmitted } from '@automation/admission'
import { type DatabaseLimits, type ReadLimits, ReadTooLong } from '@automation/database'
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../error-codes.js'
import { isPassing, Refusal, refusals } from '../errors.js'
import { bodyFaults, isNoObject, queryFault } from './validation.js'

declare module 'fastify' {
  interface FastifyInstance {
    readLimits: ReadLimits
  }
}

const noteEveryMs = 1_000
/** Of a second; further ones share a line. */
const maxReasons = 10

/** Turns errors into responses of the API. It logs unexpected errors, with the request's id, and why requests get 503, once a second at most. */
export default fp<{ database: DatabaseLimits }>(
  async (app, { database }) => {
    app.decorate('readLimits', database.reads)
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      done()
    })
    const noteUnavailable = createNote(app.log)
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const refusal = refusalFor(error, request)
      if (refusal?.statusCode === 503) noteUnavailable(refusal)
      return respond(refusal, error, request, reply)
    })
  },
  { name: 'errors' },
)

/** While a server is away, thousands of requests get 503 for the same reason: a line a second for each reason has their number. */
function createNote(log: FastifyBaseLogger): (refusal: Refusal) => void {
  const noted = new Map<string, { err: unknown; refused: number }>()
  const write = () => {
    for (const reason of noted.values()) log.warn(reason, 'requests refused with 503')
    noted.clear()
  }
  return ({ cause }) => {
    if (noted.size === 0) setTimeout(write, noteEveryMs).unref()
    const name = noted.size < maxReasons ? `${cause}` : 'others'
    const reason = noted.get(name) ?? { err: cause, refused: 0 }
    reason.refused++
    noted.set(name, reason)
  }
}

function respond(refusal: Refusal | undefined, error: Error, request: FastifyRequest, reply: FastifyReply) {
  if (refusal === undefined) {
    request.log.error({ err: error, eventId: request.eventId }, 'request failed')
    return reply
      .status(500)
      .header('x-error-code', 'internal_error' satisfies ErrorCode)
      .send({ error: 'Internal server error' })
  }
  return reply.status(refusal.statusCode).headers(refusal.headers).send(refusal.body)
}

/** @returns undefined for an unexpected error */
export function refusalFor(error: FastifyError, request: FastifyRequest): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (error instanceof Refused) return refusalOf(error)
  if (error.validation) {
    if (error.validationContext !== 'body') return refusals.badRequest(queryFault(error, request))
    // Whatever is thrown here, Fastify would respond with its own "Bad Request".
    if (isNoObject(error)) return refusals.bodyNotAnObject()
    return refusals.invalid([...(request.unstorable ?? []), ...bodyFaults(error)])
  }
  if (error instanceof NotAdmitted) return refusals.notAdmitted(error)
  if (error instanceof ReadTooLong) return refuseLongRead(request)
  if (isPassing(error)) return refusals.unavailable(error)
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return refusals.bodyTooLarge(request.routeOptions.bodyLimit)
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return refusals.notJson()
  // An error of Node's or Fastify's parsers is the client's fault, and its message contains no secret of the service.
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new Refusal(error.statusCode === 404 ? 'not_found' : 'invalid_http', error.message)
  }
  return undefined
}

function refuseLongRead({ server }: FastifyRequest): Refusal {
  server.metrics.readsRefused.too_long.inc()
  return refusals.readTooLong(server.readLimits.timeoutMs)
}

/** Presents a refused change as a refusal of the API. */
function refusalOf(refused: Refused): Refusal {
  const { code, field, message } = refused
  if (code === 'unavailable') return refusals.workspaceClosed(refused)
  return code === 'validation_failed' ? refusals.invalid([{ field, message }]) : new Refusal(code, message)
}
