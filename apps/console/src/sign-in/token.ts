import type { FastifyPluginAsync } from 'fastify'
import type { Attempts } from './attempts.js'
import { findProxyBearer } from './proxy.js'
import { readExpiry } from './read-expiry.js'
import type { Sessions } from './sessions.js'

const TokenBody = {
  type: 'object',
  properties: { token: { type: 'string', minLength: 1, maxLength: 8_000 } },
  required: ['token'],
  additionalProperties: false,
} as const

const timeoutMs = 10_000

interface Options {
  sessions: Sessions
  attempts: Attempts
  apiUrl: string
  oidc: object | undefined
  trustsBearer: boolean
}

/** Signs in with a token or an API key that the user pastes, and signs out. */
export const tokenRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { sessions, attempts, apiUrl, oidc, trustsBearer } = options

  /** Which ways in there are. */
  app.get('/', async (request) => ({
    isSignedIn:
      findProxyBearer(request, trustsBearer) !== undefined || (await sessions.read(request)) !== undefined,
    hasIdentityProvider: oidc !== undefined,
    hasProxy: trustsBearer,
  }))

  app.post<{ Body: { token: string } }>(
    '/token',
    { schema: { body: TokenBody }, onRequest: attempts.admit },
    async (request, reply) => {
      const bearer = request.body.token.trim()
      if (!/^[\x21-\x7e]+$/.test(bearer))
        return attempts.fail(request, reply, 'This is no token and no API key.')
      const status = await checkBearer(apiUrl, bearer)
      if (status === 401)
        return attempts.fail(request, reply, 'The API does not accept this token or API key.')
      if (status !== 200)
        return reply.status(503).send({ error: 'The API does not respond. Try again in a moment.' })
      if (!(await sessions.write(reply, { bearer, ...readExpiry(bearer) })))
        return attempts.fail(request, reply, 'This token is too large for a cookie.')
      app.countSignIn('succeeded')
      return reply.status(204).send()
    },
  )

  app.delete('/', async (_request, reply) => {
    sessions.end(reply)
    return reply.status(204).send()
  })
}

async function checkBearer(apiUrl: string, bearer: string): Promise<number> {
  try {
    const response = await fetch(`${apiUrl}/api/me`, {
      headers: { authorization: `Bearer ${bearer}` },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    })
    await response.body?.cancel()
    return response.status
  } catch {
    return 503
  }
}
