import { createBox } from '@automation/process/sign-in'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { Config } from '../config.js'
import { cookieName, cookieOptions, readCookie, writeCookie } from './cookies.js'
import type { LoginAttempts } from './login-attempts.js'
import { type IdentityProvider, ProviderDiscovery } from './provider.js'
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

type Problem = 'provider-away' | 'refused' | 'token-too-large' | 'too-many-attempts'

/** How long a user may take to sign in. */
const visitSeconds = 600

interface Options extends Pick<Config, 'oidc' | 'secret' | 'url'> {
  sessions: Sessions
  attempts: LoginAttempts
}

/** Signs in with the company's identity provider: authorization code with PKCE, state and nonce. */
export const oidcRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  if (options.oidc !== undefined) addOidc(app, options, options.oidc)
}

function addOidc(
  app: Parameters<FastifyPluginAsync>[0],
  { secret, url, sessions, attempts }: Options,
  oidc: IdentityProvider,
): void {
  const discovery = new ProviderDiscovery(oidc)
  const box = createBox<Visit>(secret, 'visit')
  const isSecure = url.protocol === 'https:'
  const name = cookieName('rules-visit', url)
  const redirectUri = `${url.origin}/session/oidc/callback`
  /** Lax, since the provider sends the browser back from another site. */
  const remember = (reply: FastifyReply, value: string, maxAgeSeconds: number) =>
    writeCookie(reply, `${name}=${value}; ${cookieOptions({ maxAgeSeconds, isSecure, sameSite: 'Lax' })}`)
  const giveUp = (reply: FastifyReply, problem: Problem) => reply.redirect(`/sign-in?problem=${problem}`)

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
    const back = new URL(request.url, url)
    const sealed = readCookie(request.headers.cookie, name)
    const visit = sealed === undefined ? undefined : await box.open(sealed)
    // Any site can send a visitor here: only a response to the question of this browser is a guess, and ends its visit.
    if (visit === undefined || back.searchParams.get('state') !== visit.state) {
      request.log.info({ ip: request.ip, hasVisit: visit !== undefined }, 'no sign-in is in progress')
      return giveUp(reply, 'refused')
    }
    if (!(await attempts.admitGuess(request))) return giveUp(reply, 'too-many-attempts')
    remember(reply, '', 0)
    try {
      const tokens = await authorizationCodeGrant(
        await discovery.find(),
        back,
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
      if (!(await sessions.begin(reply, content))) {
        attempts.withdraw(request)
        return giveUp(reply, 'token-too-large')
      }
      attempts.succeed(request)
      return reply.redirect(visit.next)
    } catch (error) {
      const { code, message } = error as Error & { code?: string }
      const isProviderAway = isAway(error)
      if (isProviderAway || error instanceof AuthorizationResponseError) attempts.withdraw(request)
      attempts.note(request, { way: 'identity provider', code, reason: message })
      return giveUp(reply, isProviderAway ? 'provider-away' : 'refused')
    }
  })
}

/** fetch throws a TypeError where nobody responds; openid-client names its own timeout, and a response that no rule of OAuth allows. */
function isAway(error: unknown): boolean {
  const { code = '', status = 0 } = error as { code?: string; status?: number }
  const isOutside = ['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM'].includes(code)
  return error instanceof TypeError || isOutside || status >= 500
}
