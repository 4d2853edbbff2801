import { createBox } from '@automation/sign-in'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { Config } from '../config.js'
import type { Attempts } from './attempts.js'
import { cookieName, cookieOptions, readCookie, writeCookie } from './cookies.js'
import { type Provider, ProviderDiscovery } from './provider.js'
import { readExpiry } from './read-claims.js'
import { readNext } from './read-next.js'
import type { Sessions } from './sessions.js'

/** What the browser keeps while its user is at the identity provider. */
interface Visit {
  verifier: string
  state: string
  nonce: string
  next: string
}

/** How long a user may take to sign in. */
const visitSeconds = 600

interface Options extends Pick<Config, 'oidc' | 'secret' | 'url'> {
  sessions: Sessions
  attempts: Attempts
}

/** Signs in with the company's identity provider: authorization code with PKCE, state and nonce. */
export const oidcRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  if (options.oidc !== undefined) addOidc(app, options, options.oidc)
}

function addOidc(
  app: Parameters<FastifyPluginAsync>[0],
  { secret, url, sessions, attempts }: Options,
  oidc: Provider,
): void {
  const discovery = new ProviderDiscovery(oidc)
  const box = createBox<Visit>(secret, 'visit')
  const isSecure = url.protocol === 'https:'
  const name = cookieName('rules-visit', url)
  const redirectUri = `${url.origin}/session/oidc/callback`
  /** Lax, since the provider sends the browser back from another site. */
  const remember = (reply: FastifyReply, value: string, maxAgeSeconds: number) =>
    writeCookie(reply, `${name}=${value}; ${cookieOptions({ maxAgeSeconds, isSecure, sameSite: 'Lax' })}`)
  const giveUp = (reply: FastifyReply, problem: 'provider-away' | 'refused' | 'token-too-large') =>
    reply.redirect(`/sign-in?problem=${problem}`)

  app.get<{ Querystring: { next?: string } }>('/', async (request, reply) => {
    const visit: Visit = {
      verifier: randomPKCECodeVerifier(),
      state: randomState(),
      nonce: randomNonce(),
      next: readNext(request.query.next),
    }
    try {
      const provider = await discovery.find()
      const target = buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: oidc.scope,
        code_challenge: await calculatePKCECodeChallenge(visit.verifier),
        code_challenge_method: 'S256',
        state: visit.state,
        nonce: visit.nonce,
        ...(oidc.audience && { resource: oidc.audience }),
      })
      remember(reply, await box.seal(visit, Math.floor(Date.now() / 1_000) + visitSeconds), visitSeconds)
      return reply.redirect(target.href)
    } catch (error) {
      request.log.error({ err: error }, 'the identity provider does not respond')
      return giveUp(reply, 'provider-away')
    }
  })

  const way = { config: { acceptsOtherSites: true }, onRequest: attempts.admitVisit }
  app.get('/callback', way, async (request, reply) => {
    const sealed = readCookie(request.headers.cookie, name)
    const visit = sealed === undefined ? undefined : await box.open(sealed)
    remember(reply, '', 0)
    if (visit === undefined) {
      attempts.note(request)
      return giveUp(reply, 'refused')
    }
    try {
      const tokens = await authorizationCodeGrant(
        await discovery.find(),
        new URL(request.url, url),
        {
          pkceCodeVerifier: visit.verifier,
          expectedState: visit.state,
          expectedNonce: visit.nonce,
          idTokenExpected: true,
        },
        oidc.audience ? { resource: oidc.audience } : {},
      )
      const bearer = tokens.access_token
      const { refresh_token: refreshToken } = tokens
      const content = { bearer, ...readExpiry(bearer), ...(refreshToken && { refreshToken }) }
      if (!(await sessions.begin(reply, content))) return giveUp(reply, 'token-too-large')
      attempts.succeed(request)
      return reply.redirect(visit.next)
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string }
      attempts.note(request, { way: 'identity provider', code, reason: message })
      return giveUp(reply, isAway(error) ? 'provider-away' : 'refused')
    }
  })
}

/** fetch throws a TypeError where nobody responds; openid-client names its own timeout. */
function isAway(error: unknown): boolean {
  return error instanceof TypeError || (error as { code?: string }).code === 'OAUTH_TIMEOUT'
}
