import { logOptions } from '@automation/telemetry'
import Fastify, { LogController } from 'fastify'
import { openBelt } from './belt.js'
import { boardRoutes } from './board.js'
import type { Config } from './config.js'
import { addLogin } from './login.js'
import { addMetrics } from './metrics.js'
import { probeRoutes } from './probes.js'
import { addSecurityHeaders } from './security-headers.js'
import { addWriteGuard } from './write-guard.js'

const requestTimeoutMs = 10_000

/** The whole board, ready to listen or to inject requests into. It starts without Redis, and tells whoever looks. */
export async function buildApp(config: Config) {
  const app = Fastify({
    logger: logOptions('board', config.logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    routerOptions: { ignoreTrailingSlash: true },
    requestTimeout: requestTimeoutMs,
    http: { connectionsCheckingInterval: 1_000, headersTimeout: requestTimeoutMs },
  })
  // A form of another site can send text, and with it the browser's login; JSON it cannot.
  app.removeContentTypeParser('text/plain')
  const belt = openBelt(config.redisUrl, config.queuePrefix)
  app.addHook('onReady', () => belt.connect())
  app.addHook('onClose', () => belt.close())

  addMetrics(app, config, belt)
  // In the order in which a request meets them.
  addSecurityHeaders(app)
  addLogin(app, config)
  addWriteGuard(app, config)

  await app.register(probeRoutes, { belt })
  await app.register(boardRoutes, { ...config, belt, prefix: config.basePath })
  return app
}
