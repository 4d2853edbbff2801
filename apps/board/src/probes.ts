import { createSharedReading } from '@automation/process/telemetry'
import type { QueueReader } from '@automation/queue'
import type { FastifyPluginAsync } from 'fastify'

/** How long (ms) the state of Redis is kept: everybody may ask for it, and nobody may busy Redis by asking. */
const keepMs = 1_000

/** Alive: the process responds. Ready: Redis responds, too. Both need no login, and their paths do not contain the base path. */
export const probeRoutes: FastifyPluginAsync<{ queueReader: QueueReader }> = async (app, { queueReader }) => {
  const findReadiness = createSharedReading(
    async () => (await queueReader.findQueues()) !== undefined,
    keepMs,
  )

  app.get('/healthz', { config: { isOpen: true } }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: { isOpen: true } }, async (_request, reply) => {
    const isReady = await findReadiness()
    return reply
      .status(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'unready', redis: isReady ? 'ok' : 'away' })
  })
}
