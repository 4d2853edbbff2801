import { addMetricsPort } from '@automation/process/server'
import { openMetrics } from '@automation/process/telemetry'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts the attempts to sign in. */
    countSignIn(result: SignInResult): void
  }
}

const signInResults = ['succeeded', 'failed', 'limited'] as const
export type SignInResult = (typeof signInResults)[number]

/** The metrics of the console: its requests, and the attempts to sign in. */
export function addMetrics(app: FastifyInstance, config: Config): void {
  const metrics = openMetrics()
  const signIns = metrics.counters(
    'automation_console_sign_ins_total',
    'Attempts to sign in to the console, by result',
    'result',
    signInResults,
  )
  app.decorate('countSignIn', (result: SignInResult) => signIns[result].inc())
  addMetricsPort(app, metrics, config)
}
