import { createOldestDue } from '@automation/ledger'
import { measureRequests, openMetrics, tellBacklog, tellPool } from '@automation/telemetry'
import fp from 'fastify-plugin'
import { type ApiMetrics, createApiMetrics } from '../api-metrics.js'
import { tellLedger } from '../ledger-metrics.js'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: ApiMetrics
    /** Where /metrics is answered; undefined where it is not. */
    metricsPort: number | undefined
  }
}

interface Options {
  host: string
  watching: { metricsPort: number | undefined }
}

/** What happens is always counted; only what costs each request something is not, where nobody asks. */
export default fp<Options>(
  async (app, { host, watching }) => {
    const metrics = openMetrics()
    app.decorate('metrics', createApiMetrics(metrics))
    app.decorate('metricsPort', undefined)
    if (watching.metricsPort === undefined) return

    let findOldestDue: (() => Promise<number>) | undefined
    tellPool(metrics, () => app.database.poolUse())
    tellBacklog(metrics, {
      // The database is decorated later than this plugin.
      findOldestDueSeconds: () => {
        findOldestDue ??= createOldestDue(app.database)
        return findOldestDue()
      },
      countJobs: async () => app.queue.countJobs(),
    })
    tellLedger(metrics, () => app.database)
    const measure = measureRequests(metrics)
    app.addHook('onResponse', (request, reply, done) => {
      measure(request, reply)
      done()
    })
    // A port that is taken keeps the process from starting, as with its own.
    app.addHook('onReady', async () => {
      app.metricsPort = await metrics.listen(watching.metricsPort ?? 0, host)
    })
    app.addHook('onClose', async () => metrics.close())
  },
  { name: 'metrics' },
)
