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
import { cookieOptions, readCookie, writeCookie } from './cookies.js'
import { type Provider, ProviderDiscovery } from './provider.js'
import { readExpiry } from './read-expiry.js'
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
}

/** Signs in with the company's identity provider: authorization code with PKCE, state and nonce. */
export const oidcRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  if (options.oidc !== undefined) addOidc(app, options, options.oidc)
}

function addOidc(
  app: Parameters<FastifyPluginAsync>[0],
  { secret, url, sessions }: Options,
  oidc: Provider,
): void {
  const discovery = new ProviderDiscovery(oidc)
  const box = createBox<Visit>(secret, 'visit')
  const isSecure = url.protocol === 'https:'
  const cookieName = isSecure ? '__Host-rules-visit' : 'rules-console-visit'
  const redirectUri = `${url.origin}/session/oidc/callback`
  /** Lax, since the provider sends the browser back from another site. */
  const remember = (reply: FastifyReply, value: string, maxAgeSeconds: number) =>
    writeCookie(
      reply,
      `${cookieName}=${value}; ${cookieOptions({ maxAgeSeconds, isSecure, sameSite: 'Lax' })}`,
    )
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

  app.get('/callback', { config: { acceptsOtherSites: true } }, async (request, reply) => {
    const sealed = readCookie(request.headers.cookie, cookieName)
    const visit = sealed === undefined ? undefined : await box.open(sealed)
    remember(reply, '', 0)
    if (visit === undefined) return giveUp(reply, 'refused')
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
      if (!(await sessions.write(reply, content))) return giveUp(reply, 'token-too-large')
      app.countSignIn('succeeded')
      return reply.redirect(visit.next)
    } catch (error) {
      app.countSignIn('failed')
      const { code, message } = error as { code?: string; message?: string }
      request.log.warn({ ip: request.ip, code, reason: message }, 'sign-in with the identity provider failed')
      return giveUp(reply, 'refused')
    }
  })
}
