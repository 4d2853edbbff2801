import { createSharedReading } from '@automation/process/telemetry'
import type { FastifyPluginAsync } from 'fastify'

const timeoutMs = 2_000
/** How long (ms) the state of the API is kept: everybody may ask for it, and nobody may busy the API by asking. */
const keepMs = 1_000

/** Alive: the process responds. Ready: the API is ready, too. */
export const probeRoutes: FastifyPluginAsync<{ apiUrl: string }> = async (app, { apiUrl }) => {
  const findReadiness = createSharedReading(() => isApiReady(apiUrl), keepMs)

  app.get('/healthz', { config: { acceptsAnyHost: true } }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: { acceptsAnyHost: true } }, async (_request, reply) => {
    const isReady = await findReadiness()
    return reply
      .status(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'unready', api: isReady ? 'ok' : 'away' })
  })
}

async function isApiReady(apiUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${apiUrl}/readyz`, { signal: AbortSignal.timeout(timeoutMs) })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
