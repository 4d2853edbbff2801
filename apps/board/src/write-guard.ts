import type { FastifyInstance } from 'fastify'

/**
 * Bull Board refuses the writes of a read-only queue by itself; here everything that is not reading stops before it gets there.
 * Where writes are allowed, they come from the board's own pages alone, and each leaves a line in the log.
 */
export function addWriteGuard(
  app: FastifyInstance,
  { allowsWrites, user }: { allowsWrites: boolean; user: string },
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { method, url, ip, headers } = request
    if (method === 'GET' || method === 'HEAD') return
    if (!allowsWrites) return reply.status(403).send({ error: 'The board is read-only' })
    // Browsers tell where a request comes from; what is no browser tells nothing, and sends no login that it does not know.
    if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') {
      return reply.status(403).send({ error: 'Not from another site' })
    }
    request.log.info({ user, ip, method, url }, 'write')
  })
}
