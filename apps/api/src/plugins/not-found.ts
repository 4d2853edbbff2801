import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { refusals } from '../errors.js'
import { limitationOf } from '../rate-limit/rate-limit.js'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const

/**
 * 404 for an unknown path; 405 with `Allow` where the path exists for another method. For the latter the missing
 * methods of every path are routes of their own, so register this before the routes: it collects them.
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
          onRequest: async (request) => refuse(request, refusals.methodNotAllowed(allow)),
          handler: () => {},
        })
      }
    })

    app.setNotFoundHandler((request) => refuse(request, refusals.notFound()))
  },
  { name: 'not-found', dependencies: ['rate-limit'] },
)

/** Asking for what is not there costs a token like any other request. */
function refuse(request: FastifyRequest, refusal: Error): never {
  throw limitationOf(request) ?? refusal
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers 405 on every path registered so far for the methods it lacks. Call it once, after the routes. */
    refuseOtherMethods(): void
  }
}
