import type { QueueReader } from '@automation/queue'
import { jobStates } from '@automation/queue'
import { measureRequests, openMetrics, tellQueue } from '@automation/telemetry'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Where /metrics is answered; undefined where it is not. */
    metricsPort: number | undefined
  }
}

/** On a port of its own, without a login: Prometheus has none, and nobody else is to reach it. */
export function addMetrics(
  app: FastifyInstance,
  { metricsPort, host }: Config,
  queueReader: QueueReader,
): void {
  app.decorate('metricsPort', undefined)
  if (metricsPort === undefined) return
  const metrics = openMetrics()
  tellQueue(metrics, async () => (await queueReader.findQueue())?.getJobCounts(...jobStates) ?? {})
  const measure = measureRequests(metrics)
  app.addHook('onResponse', (request, reply, done) => {
    measure(request, reply)
    done()
  })
  app.addHook('onReady', async () => {
    app.metricsPort = await metrics.listen(metricsPort, host)
  })
  app.addHook('onClose', async () => metrics.close())
}
