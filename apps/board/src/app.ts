import { openQueueReader } from '@automation/queue'
import { logOptions } from '@automation/telemetry'
import Fastify, { LogController } from 'fastify'
import { boardRoutes } from './board.js'
import type { Config } from './config.js'
import { addLogin } from './login.js'
import { addMetrics } from './metrics.js'
import { probeRoutes } from './probes.js'
import { addSecurityHeaders } from './security-headers.js'
import { addWriteGuard } from './write-guard.js'

const requestTimeoutMs = 10_000

/** Builds the whole board, ready to listen or to inject requests into. It starts without Redis, and its pages say so. */
export async function buildApp(config: Config) {
  const app = Fastify({
    logger: logOptions('board', config.logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    routerOptions: { ignoreTrailingSlash: true },
    requestTimeout: requestTimeoutMs,
    http: { connectionsCheckingInterval: 1_000, headersTimeout: requestTimeoutMs },
  })
  // A form on another site can send text together with the browser's login, but it cannot send JSON.
  app.removeContentTypeParser('text/plain')
  const queueReader = openQueueReader(config.redisUrl, config.queuePrefix)
  app.addHook('onReady', () => queueReader.connect())
  app.addHook('onClose', () => queueReader.close())

  addMetrics(app, config, queueReader)
  // In the order in which they handle a request.
  addSecurityHeaders(app)
  addLogin(app, config)
  addWriteGuard(app, config)

  await app.register(probeRoutes, { queueReader })
  await app.register(boardRoutes, { ...config, queueReader, prefix: config.basePath })
  return app
}
