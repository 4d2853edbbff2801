import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Refusal, refusals } from '../errors.js'
import { limitationOf } from '../rate-limit/rate-limit.js'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * Responds with 404 to an unknown path, and with 405 and `Allow` where the path exists for another method. For the latter, the missing
 * methods of every path become routes of their own. `Allow` has the documented ones, if the path has any. Register this plugin before the routes, since it collects them.
 */
export default fp(
  async (app) => {
    /** By path the methods, and whether each is documented. */
    const paths = new Map<string, Map<string, boolean>>()
    let isCollecting = true
    app.addHook('onRoute', ({ url, method, schema }) => {
      if (!isCollecting) return
      const known = paths.get(url) ?? new Map<string, boolean>()
      for (const name of [method].flat()) known.set(name, schema?.hide !== true)
      paths.set(url, known)
    })

    app.decorate('refuseOtherMethods', () => {
      isCollecting = false
      for (const [url, known] of paths) {
        const missing = methods.filter((method) => !known.has(method))
        const documented = [...known.keys()].filter((method) => known.get(method))
        const allow = (documented.length > 0 ? documented : [...known.keys()]).sort().join(', ')
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
