import { createPageServer } from '@automation/process/server'
import { openRedis, waitForRedis } from '@automation/queue/open-redis'
import type { Config } from './config.js'
import { frameRoutes } from './frames/frame-routes.js'
import { addRequestGuard } from './guard/request-guard.js'
import { consoleHeaders } from './guard/security-headers.js'
import { decisionLinkRoutes } from './hand-on/decision-links.js'
import { frameLinkRoutes } from './hand-on/frame-links.js'
import { handOnRoutes } from './hand-on/hand-on.js'
import { addMetrics } from './metrics.js'
import { pageRoutes } from './pages.js'
import { probeRoutes } from './probes.js'
import { linkRoutes } from './sign-in/link.js'
import { LoginAttempts } from './sign-in/login-attempts.js'
import { oidcRoutes } from './sign-in/oidc.js'
import { Refresher } from './sign-in/refresh.js'
import { Sessions } from './sign-in/sessions.js'
import { SpentIds } from './sign-in/spent-ids.js'
import { tokenRoutes } from './sign-in/token.js'

/** How long (ms) a start waits for Redis. */
const startUpMs = 2_000

/**
 * Builds the whole console, ready to listen or to inject requests into. It starts without Redis and without the API, and the page
 * reports that.
 */
export async function buildApp(config: Config) {
  const app = await createPageServer({ ...config, name: 'console', headers: consoleHeaders(config) })
  const redis = openSharedState(config)
  app.addHook('onClose', async () => redis?.disconnect())
  const fault = redis && (await waitForRedis(redis, startUpMs))
  if (fault !== undefined) app.log.warn(fault)
  const usedLinks = new SpentIds('link', redis, config.queuePrefix)
  const endedSessions = new SpentIds('session', redis, config.queuePrefix)
  const sessions = new Sessions(config, endedSessions)
  const refresher = new Refresher(config, redis)

  addMetrics(app, config)
  addRequestGuard(app, config)

  await app.register(probeRoutes, config)
  const attempts = new LoginAttempts(app)
  await app.register(linkRoutes, { ...config, sessions, attempts, usedLinks, prefix: '/session' })
  await app.register(tokenRoutes, { ...config, sessions, attempts, prefix: '/session' })
  await app.register(oidcRoutes, { ...config, sessions, attempts, prefix: '/session/oidc' })
  await app.register(handOnRoutes, { ...config, sessions, refresher, prefix: '/api' })
  await app.register(frameLinkRoutes, { ...config, prefix: '/api/developer/v1/embed-sessions' })
  await app.register(decisionLinkRoutes, { ...config, prefix: '/decide' })
  await app.register(frameRoutes, { ...config, prefix: '/embed' })
  await app.register(pageRoutes)
  return app
}

/** What several consoles know together. */
function openSharedState({ redisUrl, queuePrefix }: Config) {
  return redisUrl === undefined
    ? undefined
    : openRedis(redisUrl, queuePrefix, 'fail at once', { enableAutoPipelining: true })
}
