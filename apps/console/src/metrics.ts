import { measureRequests, openMetrics } from '@automation/telemetry'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The port of /metrics, or undefined if there is none. */
    metricsPort: number | undefined
    /** Counts the attempts to sign in. */
    countSignIn(result: SignInResult): void
  }
}

const signInResults = ['succeeded', 'failed', 'limited'] as const
export type SignInResult = (typeof signInResults)[number]

/** Serves /metrics on a separate port without a login: Prometheus has none, and only Prometheus should reach that port. */
export function addMetrics(app: FastifyInstance, { metricsPort, host }: Config): void {
  const metrics = openMetrics()
  const signIns = metrics.counters(
    'automation_console_sign_ins_total',
    'Attempts to sign in to the console, by result',
    'result',
    signInResults,
  )
  app.decorate('metricsPort', undefined)
  app.decorate('countSignIn', (result: SignInResult) => signIns[result].inc())
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
