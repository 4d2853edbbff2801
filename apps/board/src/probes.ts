import type { QueueReader } from '@automation/queue'
import type { FastifyPluginAsync } from 'fastify'

/** Alive: the process answers. Ready: Redis does, too. Both without a login, at the root whatever the board's own path. */
export const probeRoutes: FastifyPluginAsync<{ queueReader: QueueReader }> = async (app, { queueReader }) => {
  app.get('/healthz', { config: { isOpen: true } }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: { isOpen: true } }, async (_request, reply) => {
    const isReady = (await queueReader.findQueue()) !== undefined
    return reply
      .status(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'unready', redis: isReady ? 'ok' : 'away' })
  })
}
