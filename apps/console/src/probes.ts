import type { FastifyPluginAsync } from 'fastify'

const timeoutMs = 2_000

/** Alive: the process responds. Ready: the API is ready, too. */
export const probeRoutes: FastifyPluginAsync<{ apiUrl: string }> = async (app, { apiUrl }) => {
  app.get('/healthz', { config: { acceptsAnyHost: true } }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: { acceptsAnyHost: true } }, async (_request, reply) => {
    const isReady = await fetch(`${apiUrl}/readyz`, { signal: AbortSignal.timeout(timeoutMs) }).then(
      async (response) => {
        await response.body?.cancel()
        return response.ok
      },
      () => false,
    )
    return reply
      .status(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'unready', api: isReady ? 'ok' : 'away' })
  })
}
