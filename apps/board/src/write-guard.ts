import type { FastifyInstance } from 'fastify'

/**
 * Refuses every request that is not a read, before it reaches Bull Board, which also refuses writes on a read-only queue.
 * If writes are allowed, they must come from the board's own pages, and each is logged.
 */
export function addWriteGuard(
  app: FastifyInstance,
  { allowsWrites, user }: { allowsWrites: boolean; user: string },
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { method, url, ip, headers } = request
    if (method === 'GET' || method === 'HEAD') return
    if (!allowsWrites) return reply.status(403).send({ error: 'The board is read-only' })
    // Browsers send the origin of a request. Other clients send none, but they cannot use a login that a browser stores.
    if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') {
      return reply.status(403).send({ error: 'Requests from other sites are refused' })
    }
    request.log.info({ user, ip, method, url }, 'write request')
  })
}
