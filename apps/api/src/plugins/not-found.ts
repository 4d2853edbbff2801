import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Refusal, refusals } from '../errors.js'
import { limitationOf } from '../rate-limit/rate-limit.js'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * Responds with 404 to an unknown path, and with 405 and `Allow` where the path exists for another method. For the latter, the missing
 * methods of every path become routes of their own. Register this plugin before the routes, since it collects them.
 */
export default fp(
  async (app) => {
    const allowed = new Map<string, Set<string>>()
    let isCollecting = true
    app.addHook('onRoute', ({ url, method }) => {
      if (!isCollecting) return
      const known = allowed.get(url) ?? new Set()
      for (const name of [method].flat()) known.add(name)
      allowed.set(url, known)
    })

    app.decorate('refuseOtherMethods', () => {
      isCollecting = false
      for (const [url, known] of allowed) {
        const missing = methods.filter((method) => !known.has(method))
        const allow = [...known].sort().join(', ')
        app.route({
          url,
          method: missing,
          schema: { hide: true },
          onRequest: async (request) => {
            throw limitationOf(request) ?? refusals.methodNotAllowed(allow)
          },
          handler: () => {},
        })
      }
    })

    app.setNotFoundHandler((request) => {
      throw findPathRefusal(request)
    })
  },
  { name: 'not-found', dependencies: ['rate-limit'] },
)

/** A request for an unknown path consumes a token like any other. */
export function findPathRefusal(request: FastifyRequest): Refusal {
  return limitationOf(request) ?? refusals.notFound()
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds the 405 responses to all paths registered so far. Call it once, after the routes. */
    refuseOtherMethods(): void
  }
}
