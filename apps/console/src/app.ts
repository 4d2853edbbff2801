import { createPageServer } from '@automation/server'
import type { Config } from './config.js'
import { addRequestGuard } from './guard/request-guard.js'
import { consoleHeaders } from './guard/security-headers.js'
import { handOnRoutes } from './hand-on/hand-on.js'
import { addMetrics } from './metrics.js'
import { pageRoutes } from './pages.js'
import { probeRoutes } from './probes.js'
import { Attempts } from './sign-in/attempts.js'
import { linkRoutes } from './sign-in/link.js'
import { oidcRoutes } from './sign-in/oidc.js'
import { Refresher } from './sign-in/refresh.js'
import { Sessions } from './sign-in/sessions.js'
import { SpentIds } from './sign-in/spent-ids.js'
import { tokenRoutes } from './sign-in/token.js'

/** Builds the whole console, ready to listen or to inject requests into. It starts without the API, and the page reports that. */
export async function buildApp(config: Config) {
  const app = await createPageServer({ ...config, name: 'console', headers: consoleHeaders(config) })
  const usedLinks = new SpentIds('link', config)
  const endedSessions = new SpentIds('session', config)
  app.addHook('onClose', async () => {
    usedLinks.close()
    endedSessions.close()
    refresher.close()
  })
  const sessions = new Sessions(config, endedSessions)
  const refresher = new Refresher(config)

  addMetrics(app, config)
  addRequestGuard(app, config)

  await app.register(probeRoutes, config)
  const attempts = new Attempts(app)
  await app.register(linkRoutes, { ...config, sessions, attempts, usedLinks, prefix: '/session' })
  await app.register(tokenRoutes, { ...config, sessions, attempts, prefix: '/session' })
  await app.register(oidcRoutes, { ...config, sessions, attempts, prefix: '/session/oidc' })
  await app.register(handOnRoutes, { ...config, sessions, refresher, prefix: '/api' })
  await app.register(pageRoutes)
  return app
}
