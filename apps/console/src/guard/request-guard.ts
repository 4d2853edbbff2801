import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepts any Host: for probes, which come by address. */
    acceptsAnyHost?: boolean
    /** A browser comes here from another site: the way back from an identity provider. */
    acceptsOtherSites?: boolean
  }
}

/**
 * Refuses what the page itself never sends. The Host must be the console's own, or another name could be made to point here (DNS
 * rebinding). A write, and every use of the session, must come from the page: SameSite is not enough, since another port of this
 * machine is the same site.
 */
export function addRequestGuard(app: FastifyInstance, { url }: { url: URL }): void {
  app.addHook('onRequest', async (request, reply) => {
    const { acceptsAnyHost, acceptsOtherSites } = request.routeOptions.config ?? {}
    if (!acceptsAnyHost && request.headers.host !== url.host)
      return reply.status(421).send({ error: `This console is at ${url.origin}` })
    if (acceptsOtherSites || isAllowed(request, url)) return
    request.log.warn({ ip: request.ip, method: request.method }, 'request from another site refused')
    return reply.status(403).send({ error: 'Requests from other sites are refused' })
  })
}

function isAllowed({ method, headers, routeOptions, url: rawPath }: FastifyRequest, url: URL): boolean {
  // The path of the route: `/%73ession` leads there, too.
  const path = routeOptions.url ?? rawPath
  const { origin, 'sec-fetch-site': site } = headers
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead) return site === undefined ? origin === url.origin : site === 'same-origin'
  const usesSession = path.startsWith('/api/') || path.startsWith('/session')
  return !usesSession || site === undefined || site === 'same-origin' || site === 'none'
}
