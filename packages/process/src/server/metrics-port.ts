import type { FastifyInstance } from 'fastify'
import { type Metrics, measureRequests } from '../telemetry/index.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The port of /metrics, or undefined if there is none. */
    metricsPort: number | undefined
  }
}

interface Options {
  /** undefined: no metrics. */
  metricsPort: number | undefined
  host: string
}

/** Serves /metrics on a separate port without a login: Prometheus has none, and only Prometheus should reach that port. */
export function addMetricsPort(app: FastifyInstance, metrics: Metrics, { metricsPort, host }: Options): void {
  app.decorate('metricsPort', undefined)
  if (metricsPort === undefined) return
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
