import type { QueueReader } from '@automation/queue'
import type { FastifyPluginAsync } from 'fastify'

/** Alive: the process responds. Ready: Redis responds, too. Both need no login, and their paths do not contain the base path. */
export const probeRoutes: FastifyPluginAsync<{ queueReader: QueueReader }> = async (app, { queueReader }) => {
  app.get('/healthz', { config: { isOpen: true } }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: { isOpen: true } }, async (_request, reply) => {
    const isReady = (await queueReader.findQueue()) !== undefined
    return reply
      .status(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'unready', redis: isReady ? 'ok' : 'away' })
  })
}
