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
      if (route.config?.resource === undefined) return
      route.preSerialization = [route.preSerialization ?? [], sendTag].flat()
      if (route.method === 'GET' || route.method === 'HEAD') return
      const { headers, response } = (route.schema ?? {}) as Schemas
      route.schema = {
        ...route.schema,
        headers: Type.Object({ ...headers?.properties, ...IfMatchHeader.properties }),
        response: { ...response, ...refusalResponses(412) },
      }
    })

    app.addHook('preHandler', async ({ headers, method, routeOptions: { config, schema } }) => {
      if (headers['if-match'] === undefined || method === 'GET' || config.role === undefined) return
      const { properties = {} } = (schema as Schemas | undefined)?.headers ?? {}
      if (!('If-Match' in properties)) throw refusals.noIfMatch()
    })
  },
  { name: 'if-match', dependencies: ['resources', 'bodies'] },
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
