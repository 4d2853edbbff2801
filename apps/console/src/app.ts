import { logOptions } from '@automation/telemetry'
import Fastify, { LogController } from 'fastify'
import type { Config } from './config.js'
import { addRequestGuard } from './guard/request-guard.js'
import { addSecurityHeaders } from './guard/security-headers.js'
import { handOnRoutes } from './hand-on.js'
import { addMetrics } from './metrics.js'
import { pageRoutes } from './pages.js'
import { probeRoutes } from './probes.js'
import { Attempts } from './sign-in/attempts.js'
import { linkRoutes } from './sign-in/link.js'
import { oidcRoutes } from './sign-in/oidc.js'
import { Refresher } from './sign-in/refresh.js'
import { Sessions } from './sign-in/sessions.js'
import { tokenRoutes } from './sign-in/token.js'

const requestTimeoutMs = 10_000

/** Builds the whole console, ready to listen or to inject requests into. It starts without the API, and the page reports that. */
export async function buildApp(config: Config) {
  const app = Fastify({
    logger: logOptions('console', config.logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    requestTimeout: requestTimeoutMs,
    http: { connectionsCheckingInterval: 1_000, headersTimeout: requestTimeoutMs },
  })
  // A form on another site can send text together with the browser's cookie, but it cannot send JSON.
  app.removeContentTypeParser('text/plain')
  const sessions = new Sessions(config)
  const refresher = new Refresher(config)

  addMetrics(app, config)
  // In the order in which they handle a request.
  addSecurityHeaders(app, config)
  addRequestGuard(app, config)

  await app.register(probeRoutes, config)
  const attempts = new Attempts(app)
  await app.register(linkRoutes, { ...config, sessions, attempts, prefix: '/session' })
  await app.register(tokenRoutes, { ...config, sessions, attempts, prefix: '/session' })
  await app.register(oidcRoutes, { ...config, sessions, prefix: '/session/oidc' })
  await app.register(handOnRoutes, { ...config, sessions, refresher, prefix: '/api' })
  await app.register(pageRoutes)
  return app
}
