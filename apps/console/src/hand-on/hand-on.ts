import { finished } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { findProxyBearer } from '../sign-in/proxy.js'
import type { Refresher } from '../sign-in/refresh.js'
import type { Session, Sessions } from '../sign-in/sessions.js'
import { askApi, openApi, prefixOf, type Refuse, refuseExcess } from './ask-api.js'
import { readFrame } from './read-frame.js'
import { readApiPath } from './read-path.js'
import { type SlotLimits, Slots, usualSlots, waitingSlots } from './slots.js'

/** Its response comes with the next event, or after 25 s. */
const waitingPath = '/api/events/newest'
/** What the API serves. */
const methods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Options {
  apiUrl: string
  trustsBearer: boolean
  sessions: Sessions
  refresher: Refresher
}

/**
 * Hands the requests of a signed-in page on to the API, with the token of its session; those of a frame with the token of the frame.
 *
 *   path and session ──▶ slot ──▶ token renewed ──▶ API ──▶ response handed back ──▶ slot free
 *                         │            │              └── 504 in time, 503 where it is away
 *                         └── 429, 503 └── 401, 503
 */
export const handOnRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { apiUrl, trustsBearer, sessions } = options
  const prefix = prefixOf(apiUrl)
  const openWays = (limits: SlotLimits) => ({ api: openApi(apiUrl, limits), slots: new Slots(limits) })
  // Only the API knows whether the token of a frame is one: a stranger who makes some up takes no slot of the people of the console.
  const ofPeople = { usual: openWays(usualSlots), waiting: openWays(waitingSlots) }
  const ofFrames = { usual: openWays(usualSlots), waiting: openWays(waitingSlots) }
  for (const { usual, waiting } of [ofPeople, ofFrames]) {
    // What only waits does not keep the process from ending.
    app.addHook('preClose', async () => waiting.api.destroy())
    app.addHook('onClose', async () => usual.api.destroy())
  }
  // The API parses bodies, and limits them; here they pass through.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.route({ method: methods, url: '/*', handler: handOn })

  async function handOn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const target = readApiPath(request.url, `${app.prefix}/`)
    if (target === 'malformed') return refuse(reply, 400, 'The URL cannot be decoded')
    if (target === 'foreign') return refuse(reply, 404, 'Not found')
    const frame = readFrame(request)
    const given = frame ? frame.bearer : findProxyBearer(request, trustsBearer)
    const session = frame || given !== undefined ? undefined : await sessions.read(request)
    const owner = given ?? session?.bearer
    if (owner === undefined) return refuse(reply, 401, 'Authentication required')
    const isWaiting = target.path === waitingPath
    const { api, slots } = (frame ? ofFrames : ofPeople)[isWaiting ? 'waiting' : 'usual']
    const slot = slots.take(request.ip, owner)
    if (typeof slot === 'string') return refuseExcess(reply, slot)
    finished(reply.raw, slot)
    const bearer = session === undefined ? given : await renew(options, reply, session)
    if (bearer === undefined) return reply
    const path = `${prefix}${target.path}${target.query}`
    // Each further request with a refused token would be refused, too.
    const endSession = () => sessions.forget(reply)
    return askApi(api, { request, reply, path, bearer, isWaiting, refuse, ...(!frame && { endSession }) })
  }
}

const refuse: Refuse = (reply, status, error) => reply.status(status).send({ error })

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
