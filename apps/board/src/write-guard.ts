import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Refuses every request that is not a read, before it reaches Bull Board, which also refuses writes on a read-only queue.
 * If writes are allowed, they must come from the board's own pages, and each is logged.
 */
export function addWriteGuard(app: FastifyInstance, { allowsWrites }: { allowsWrites: boolean }): void {
  app.addHook('onRequest', async (request, reply) => {
    const { method, url, ip, headers } = request
    if (method === 'GET' || method === 'HEAD') return
    if (!allowsWrites) return reply.status(403).send({ error: 'The board is read-only' })
    if (!isSameOrigin(headers)) {
      return reply.status(403).send({ error: 'Requests from other sites are refused' })
    }
    request.log.info({ ip, method, url }, 'write request')
  })
}

/**
 * Browsers send Sec-Fetch-Site, except over plain HTTP to another machine: there they send the Origin of each write. Other clients
 * send neither, but they cannot use a login that a browser stores.
 */
function isSameOrigin({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === 'same-origin'
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}
