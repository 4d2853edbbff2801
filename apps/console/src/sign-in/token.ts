import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { LoginAttempts } from './login-attempts.js'
import { findProxyBearer } from './proxy.js'
import { readExpiry } from './read-claims.js'
import type { Sessions } from './sessions.js'

const TokenBody = {
  type: 'object',
  properties: { token: { type: 'string', minLength: 1, maxLength: 8_000 } },
  required: ['token'],
  additionalProperties: false,
} as const

const timeoutMs = 10_000
/** Tokens that the API checks at a time. */
const maxChecks = 16

interface Options {
  sessions: Sessions
  attempts: LoginAttempts
  apiUrl: string
  boardUrl: string | undefined
  oidc: object | undefined
  trustsBearer: boolean
}

/** Signs in with a token or an API key that the user pastes, and signs out. */
export const tokenRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { sessions, attempts, apiUrl, boardUrl, oidc, trustsBearer } = options
  let checks = 0

  /** Which ways in there are. */
  app.get('/', async (request) => {
    const isSignedIn =
      findProxyBearer(request, trustsBearer) !== undefined || (await sessions.read(request)) !== undefined
    return {
      isSignedIn,
      hasIdentityProvider: oidc !== undefined,
      hasProxy: trustsBearer,
      // Where programs post events: the page shows it to those who may read what they post.
      ...(isSignedIn && { apiUrl, boardUrl }),
    }
  })

  app.post<{ Body: { token: string } }>(
    '/token',
    { schema: { body: TokenBody }, onRequest: attempts.admit, bodyLimit: 16_384 },
    async (request, reply) => {
      const bearer = request.body.token.trim()
      if (!/^[\x21-\x7e]+$/.test(bearer))
        return attempts.fail(request, reply, 'This is neither a token nor an API key.')
      const check = checks < maxChecks ? await countedCheck(bearer, request.ip) : { status: 503 }
      if (check.status === 401)
        return attempts.fail(request, reply, 'The API does not accept this token or API key.')
      if (check.status !== 200) return postpone(attempts, request, reply, check)
      await sessions.end(request)
      if (!(await sessions.begin(reply, { bearer, ...readExpiry(bearer) })))
        return attempts.failTooLarge(request, reply, 'This token is too large for a cookie.')
      attempts.succeed(request)
      return reply.status(204).send()
    },
  )

  app.delete('/', async (request, reply) => {
    await sessions.end(request)
    sessions.forget(reply)
    return reply.status(204).send()
  })

  async function countedCheck(bearer: string, ip: string): Promise<Check> {
    checks++
    try {
      return await checkBearer(apiUrl, bearer, ip)
    } finally {
      checks--
    }
  }
}

interface Check {
  status: number
  retryAfter?: string | null
}

/** The address makes the API count wrong tokens by their sender, where its TRUST_PROXY names this console. */
async function checkBearer(apiUrl: string, bearer: string, ip: string): Promise<Check> {
  try {
    const response = await fetch(`${apiUrl}/api/me`, {
      headers: { authorization: `Bearer ${bearer}`, 'x-forwarded-for': ip },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    })
    await response.body?.cancel()
    return { status: response.status, retryAfter: response.headers.get('retry-after') }
  } catch {
    return { status: 503 }
  }
}

/** The API did not check the token. A 429 stays counted: otherwise guesses beyond the API's limit would be free. */
function postpone(
  attempts: LoginAttempts,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, retryAfter }: Check,
): FastifyReply {
  if (status === 429)
    return reply
      .status(429)
      .header('retry-after', retryAfter ?? '3')
      .send({ error: `The API has received too many requests. Try again in ${retryAfter ?? '3'} seconds.` })
  attempts.withdraw(request)
  return reply
    .status(503)
    .header('retry-after', retryAfter ?? '2')
    .send({ error: 'The API does not respond. Try again in a moment.' })
}
