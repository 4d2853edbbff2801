import type { FastifyPluginAsync } from 'fastify'
import type { Belt } from './belt.js'

/** Alive: the process answers. Ready: Redis does, too. Both without a login, at the root whatever the board's own path. */
export const probeRoutes: FastifyPluginAsync<{ belt: Belt }> = async (app, { belt }) => {
  app.get('/healthz', { config: { isOpen: true } }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: { isOpen: true } }, async (_request, reply) => {
    const isReady = (await belt.findQueue()) !== undefined
    return reply
      .status(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'unready', redis: isReady ? 'ok' : 'away' })
  })
}
