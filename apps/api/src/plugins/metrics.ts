import { clockAheadMs } from '@automation/database'
import { createOldestDue } from '@automation/ledger'
import {
  measureRequests,
  openMetrics,
  registerBacklog,
  registerClock,
  registerPool,
} from '@automation/process/telemetry'
import fp from 'fastify-plugin'
import { type ApiMetrics, createApiMetrics } from '../api-metrics.js'
import { registerLedgerMetrics } from '../ledger-metrics.js'
import { registerSizeMetrics } from '../size-metrics.js'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: ApiMetrics
    /** The port of /metrics, or undefined if there is none. */
    metricsPort: number | undefined
  }
}

interface Options {
  host: string
  observability: { metricsPort: number | undefined }
}

/** Counters are always updated. What costs time on each request is measured only if /metrics is served. */
export default fp<Options>(
  async (app, { host, observability }) => {
    const metrics = openMetrics()
    app.decorate('metrics', createApiMetrics(metrics))
    app.decorate('metricsPort', undefined)
    if (observability.metricsPort === undefined) return

    let findOldestDue: (() => Promise<number>) | undefined
    registerPool(metrics, () => app.database.poolUse())
    registerClock(metrics, clockAheadMs)
    registerBacklog(metrics, {
      // The database is decorated later than this plugin.
      findOldestDueSeconds: () => {
        findOldestDue ??= createOldestDue(app.database)
        return findOldestDue()
      },
      countJobs: async () => app.queue.countJobs(),
    })
    registerLedgerMetrics(metrics, () => app.database)
    registerSizeMetrics(metrics, () => app.database)
    const measure = measureRequests(metrics)
    app.addHook('onResponse', (request, reply, done) => {
      measure(request, reply)
      done()
    })
    // If the port is taken, the process does not start, just as with its main port.
    app.addHook('onReady', async () => {
      app.metricsPort = await metrics.listen(observability.metricsPort ?? 0, host)
    })
    app.addHook('onClose', async () => metrics.close())
  },
  { name: 'metrics' },
)
