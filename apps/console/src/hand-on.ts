import type { IncomingHttpHeaders } from 'node:http'
import { finished } from 'node:stream'
import replyFrom from '@fastify/reply-from'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { findProxyBearer } from './sign-in/proxy.js'
import type { Refresher } from './sign-in/refresh.js'
import type { Sessions } from './sign-in/sessions.js'

/** Of the headers of a page only these reach the API: no cookie, no authorization and no forwarding header of others. */
const passed = ['accept', 'content-type', 'if-match', 'idempotency-key', 'prefer', 'x-workspace-id'] as const
/** A synchronous trigger waits for its outcome. */
const timeoutMs = 40_000
const maxConnections = 64
/** Requests of one user at a time, so that a user who does not read responses does not take all connections. */
const maxPerBearer = 8

interface Options {
  apiUrl: string
  trustsBearer: boolean
  sessions: Sessions
  refresher: Refresher
}

/** Hands the requests of a signed-in page on to the API, with the token of its session. */
export const handOnRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { apiUrl, sessions } = options
  await app.register(replyFrom, {
    base: apiUrl,
    undici: { connections: maxConnections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
    globalAgent: false,
    disableRequestLogging: true,
  })
  // The API parses bodies; here they pass through.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  const inFlight = new Map<string, number>()

  app.all('/*', async (request, reply) => {
    const path = new URL(request.url, apiUrl)
    // `/api/../metrics` is another path than it seems.
    if (!path.pathname.startsWith('/api/')) return reply.status(404).send({ error: 'Not found' })
    const bearer = await findBearer(request, reply, options)
    if (bearer === undefined) return reply.status(401).send({ error: 'Authentication required' })
    const count = inFlight.get(bearer) ?? 0
    if (count >= maxPerBearer)
      return reply.status(429).header('retry-after', '1').send({ error: 'Too many requests at a time' })
    inFlight.set(bearer, count + 1)
    finished(reply.raw, () => {
      const left = (inFlight.get(bearer) ?? 1) - 1
      if (left > 0) inFlight.set(bearer, left)
      else inFlight.delete(bearer)
    })
    const prefix = new URL(apiUrl).pathname.replace(/\/+$/, '')
    return reply.from(`${prefix}${path.pathname}${path.search}`, {
      // The client of the page repeats what can be repeated, and keeps to Retry-After.
      retryDelay: () => null,
      rewriteRequestHeaders: (_raw, headers) => ({
        ...keepPassed(headers),
        authorization: `Bearer ${bearer}`,
        'x-forwarded-for': request.ip,
      }),
      rewriteHeaders: (headers) => dropHeaders(headers),
      onResponse: (_request, response, stream) => {
        if (reply.statusCode === 401) sessions.end(reply)
        response.send((stream as { stream?: unknown }).stream ?? stream)
      },
      onError: (failed) => {
        failed.header('retry-after', '2')
        failed.status(503).send({ error: 'The API does not respond' })
      },
    })
  })
}

async function findBearer(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions, refresher, trustsBearer }: Options,
): Promise<string | undefined> {
  const given = findProxyBearer(request, trustsBearer)
  if (given !== undefined) return given
  const session = await sessions.read(request)
  if (session === undefined) return undefined
  const refreshed = await refresher.refresh(session)
  if (refreshed === 'current') return session.bearer
  if (refreshed === undefined) {
    sessions.end(reply)
    return undefined
  }
  await sessions.write(reply, refreshed, session.exp)
  return refreshed.bearer
}

function keepPassed(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    ['content-length', 'transfer-encoding', ...passed].flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

/** The API sets no cookies; the headers that protect the page are the console's own. */
function dropHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'set-cookie': _cookies, 'www-authenticate': _challenge, ...rest } = headers
  return rest
}
