import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { etagOf, IfMatchHeader, type Resource } from '../etag.js'
import { refusalResponses } from '../responses.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Responses have the ETag of what the route is about, and a change is refused where If-Match names another one. A rule has a version
     * instead, and compares it itself.
     */
    resource?: Resource
  }
}

/** If-Match of all that has no version (administratorOf compares it), and the refusal of one that would have no effect: its caller relies on it. */
export default fp(
  async (app) => {
    app.addHook('onRoute', (route) => {
      const { resource, role } = route.config ?? {}
      const { headers, response } = (route.schema ?? {}) as Schemas
      const isChange = route.method !== 'GET' && route.method !== 'HEAD'
      if (resource !== undefined) route.preSerialization = [route.preSerialization ?? [], sendTag].flat()
      if (resource !== undefined && isChange)
        route.schema = {
          ...route.schema,
          headers: Type.Object({ ...headers?.properties, ...IfMatchHeader.properties }),
          response: { ...response, ...refusalResponses(412) },
        }
      else if (isChange && role !== undefined && headers?.properties?.['If-Match'] === undefined)
        route.preHandler = [route.preHandler ?? [], refuseIfMatch].flat()
    })
  },
  { name: 'if-match' },
)

interface Schemas {
  headers?: { properties?: Record<string, Type.TSchema> }
  response?: Record<string, Type.TSchema>
}

function sendTag(
  _: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  // A deletion leaves nothing that has one.
  if (payload !== null && reply.statusCode < 300) reply.header('etag', etagOf(JSON.stringify(payload)))
  done(null, payload)
}

function refuseIfMatch({ headers }: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void {
  done(headers['if-match'] === undefined ? undefined : refusals.noIfMatch())
}
