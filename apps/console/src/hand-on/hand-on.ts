import type { IncomingHttpHeaders } from 'node:http'
import { finished } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type Dispatcher, Pool } from 'undici'
import { findProxyBearer } from '../sign-in/proxy.js'
import type { Refresher } from '../sign-in/refresh.js'
import type { Session, Sessions } from '../sign-in/sessions.js'
import { Deadline } from './deadline.js'
import { readApiPath } from './read-path.js'
import { type SlotLimits, Slots, usualSlots, waitingSlots } from './slots.js'

/** Its response comes with the next event, or after 25 s. */
const waitingPath = '/api/events/newest'
/** What the API serves. */
const methods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const pageMethods: HTTPMethods[] = ['GET', 'HEAD', 'POST']
/** Of the headers of a page only these reach the API: no cookie, no authorization and no forwarding header of others. */
const passed = ['accept', 'content-type', 'if-match', 'idempotency-key', 'prefer', 'x-workspace-id'] as const
/** Of the API's headers: it sets no cookies, and the others are matters of the console and of its connections. */
const dropped = [
  ...['set-cookie', 'www-authenticate'],
  ...['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade'],
]

interface Options {
  apiUrl: string
  trustsBearer: boolean
  sessions: Sessions
  refresher: Refresher
  /** Of pages for people without an account: nobody has to be signed in, and the API gets no token. */
  isPublic?: boolean
}

/**
 * Hands the requests of a signed-in page on to the API, with the token of its session.
 *
 *   path and session ──▶ slot ──▶ token renewed ──▶ API ──▶ response handed back ──▶ slot free
 *                         │            │              └── 504 in time, 503 where it is away
 *                         └── 429, 503 └── 401, 503
 */
export const handOnRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { apiUrl, trustsBearer, sessions, isPublic = false } = options
  const { origin, pathname } = new URL(apiUrl)
  const prefix = pathname.replace(/\/+$/, '')
  // @fastify/reply-from cannot abort a request: browsers that had left would hold all connections to a mute API.
  // The deadline of each request ends it: a timeout of the pool would not count what happens before it has a connection.
  const open = ({ inAll }: SlotLimits) =>
    new Pool(origin, { connections: inAll, headersTimeout: 0, bodyTimeout: 0 })
  const usual = { api: open(usualSlots), slots: new Slots(usualSlots) }
  const waiting = { api: open(waitingSlots), slots: new Slots(waitingSlots) }
  // What only waits does not keep the process from ending.
  app.addHook('preClose', async () => waiting.api.destroy())
  app.addHook('onClose', async () => usual.api.destroy())
  // The API parses bodies, and limits them; here they pass through.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  // A link is opened from anywhere, and its form has a token of its own.
  const config = isPublic ? { acceptsOtherSites: true } : {}
  app.route({ method: isPublic ? pageMethods : methods, url: '/*', config, handler: handOn })

  async function handOn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const target = readApiPath(request.url, `${app.prefix}/`)
    if (target === 'malformed') return reply.status(400).send({ error: 'The URL cannot be decoded' })
    if (target === 'foreign') return reply.status(404).send({ error: 'Not found' })
    const path = `${prefix}${target.path}${target.query}`
    if (isPublic) return handOnPublic(request, reply, path)
    const given = findProxyBearer(request, trustsBearer)
    const session = given === undefined ? await sessions.read(request) : undefined
    const known = given ?? session?.bearer
    if (known === undefined) return reply.status(401).send({ error: 'Authentication required' })
    const isWaiting = target.path === waitingPath
    const { api, slots } = isWaiting ? waiting : usual
    const slot = slots.take(known, request.ip)
    if (typeof slot === 'string') return refuse(reply, slot)
    finished(reply.raw, slot)
    const bearer = session === undefined ? known : await renew(options, reply, session)
    if (bearer === undefined) return reply
    return perform(api, { request, reply, path, bearer, sessions, isWaiting })
  }

  async function handOnPublic(request: FastifyRequest, reply: FastifyReply, path: string) {
    const { api, slots } = usual
    const slot = slots.take(`address ${request.ip}`, request.ip)
    if (typeof slot === 'string') return refuse(reply, slot)
    finished(reply.raw, slot)
    return perform(api, { request, reply, path, bearer: undefined, sessions, isWaiting: false })
  }
}

function refuse(reply: FastifyReply, who: 'user' | 'address' | 'all'): FastifyReply {
  reply.header('retry-after', '1')
  if (who === 'all') return reply.status(503).send({ error: 'The console is busy. Try again in a moment.' })
  return reply.status(429).send({ error: 'Too many requests at a time' })
}

/** @returns the token of the session, replaced if it is about to end; undefined where the request got its response instead */
async function renew(
  { sessions, refresher }: Options,
  reply: FastifyReply,
  session: Session,
): Promise<string | undefined> {
  const refreshed = await refresher.refresh(session)
  if (refreshed === 'current') return session.bearer
  if (refreshed === 'away') {
    reply.status(503).header('retry-after', '5')
    reply.send({ error: 'Your identity provider does not respond. Try again in a moment.' })
    return undefined
  }
  const renewal = refreshed === 'refused' ? 'ended' : await sessions.renew(reply, session, refreshed)
  if (renewal === 'renewed') return (refreshed as { bearer: string }).bearer
  // The old token of the session is of no more use: the provider has replaced it.
  sessions.forget(reply)
  const error =
    renewal === 'ended'
      ? 'Authentication required'
      : 'The renewed token of your identity provider is too large for a cookie. Sign in again; fewer claims or groups in it help.'
  reply.status(401).send({ error })
  return undefined
}

interface Call {
  request: FastifyRequest
  reply: FastifyReply
  path: string
  /** undefined: nobody is signed in. */
  bearer: string | undefined
  sessions: Sessions
  isWaiting: boolean
}

async function perform(
  api: Pool,
  { request, reply, path, bearer, sessions, isWaiting }: Call,
): Promise<FastifyReply> {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const deadline = new Deadline(reply, isRead && !isWaiting)
  const body = request.body as Dispatcher.DispatchOptions['body']
  try {
    const response = await api.request({
      path,
      method: request.method as Dispatcher.HttpMethod,
      headers: {
        ...keepPassed(request.headers, body !== undefined),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        'x-forwarded-for': request.ip,
      },
      body: body ?? null,
      signal: deadline.signal,
    })
    deadline.extend()
    // A refused token ends the session: each further request would be refused, too.
    if (response.statusCode === 401 && bearer !== undefined) sessions.forget(reply)
    // The rest of a body that the API does not want is not read.
    if (!request.raw.complete) reply.header('connection', 'close')
    return reply
      .status(response.statusCode)
      .headers(dropHeaders(response.headers, bearer === undefined))
      .send(response.body)
  } catch (error) {
    if (deadline.hasLeft) {
      request.log.debug({ err: error }, 'the browser disconnected')
      return reply.hijack()
    }
    request.log.warn({ err: error }, 'the API does not respond')
    return reply
      .status(deadline.isOver ? 504 : 503)
      .header('retry-after', '2')
      .send({ error: describe(deadline, isRead) })
  }
}

function describe({ isOver }: Deadline, isRead: boolean): string {
  if (!isOver) return 'The API does not respond. Try again in a moment.'
  if (isRead) return 'The API did not respond in time. Try again in a moment.'
  return 'The API did not respond in time. The request may have taken effect: check before you try again.'
}

function keepPassed(headers: IncomingHttpHeaders, hasBody: boolean): Record<string, string> {
  const names = hasBody ? ['content-length', ...passed] : passed
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

/** Of a page for people without an account, the API says what may be kept. */
function dropHeaders(headers: IncomingHttpHeaders, isPublic: boolean): IncomingHttpHeaders {
  const isKept = (name: string) => !dropped.includes(name) && (isPublic || name !== 'cache-control')
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)))
}
