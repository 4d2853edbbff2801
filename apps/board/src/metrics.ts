import type { QueueReader } from '@automation/queue'
import { jobStates } from '@automation/queue'
import { measureRequests, openMetrics, registerQueue } from '@automation/telemetry'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The port of /metrics, or undefined if there is none. */
    metricsPort: number | undefined
  }
}

/** Serves /metrics on a separate port without a login: Prometheus has none, and only Prometheus should reach that port. */
export function addMetrics(
  app: FastifyInstance,
  { metricsPort, host }: Config,
  queueReader: QueueReader,
): void {
  app.decorate('metricsPort', undefined)
  if (metricsPort === undefined) return
  const metrics = openMetrics()
  registerQueue(metrics, async () => (await queueReader.findQueue())?.getJobCounts(...jobStates) ?? {})
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
