import {
  EmbedFrame,
  loadSessionFrames,
  noSuchSession,
  OpenedEmbedSession,
  openEmbedSession,
  opensSession,
  type SessionFrame,
} from '@automation/access'
import { createReadBatcher, isUuid } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { noteUnstorable } from '../../plugins/bodies.js'
import { refusalFor } from '../../plugins/errors.js'
import { limitationOf } from '../../rate-limit/rate-limit.js'
import { Id, refusalResponses } from '../../responses.js'

/**
 * What is asked without a token before a frame is there:
 *
 *   id of a live session ────────────▶ its origins
 *   and the right secret of its link ─▶ its token, once
 *
 * Both cost a token of the session, and of the frames of its workspace and creator: so a company opens its frames from one address. Anything
 * else is one and the same 404, costs a token of its address, and at most one statement.
 *
 * @param embedOrigins those that may frame the sessions of each workspace
 */
export const embedFrameRoutes: FastifyPluginAsyncTypebox<{ embedOrigins: string[] }> = async (
  app,
  { embedOrigins },
) => {
  // Of a flood of ids, many share a statement.
  const load = createReadBatcher(async (ids: string[]) => {
    const loaded = await loadSessionFrames(app.database, ids)
    const byId = new Map(loaded.map((one) => [one.grant.id, one]))
    return ids.map((id) => byId.get(id))
  })
  const joinOrigins = (ofWorkspace: string[]) => [...new Set([...ofWorkspace, ...embedOrigins])]
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    if (request.bucketOwner === undefined) await app.consumeToken(request, reply)
    const { statusCode = 500 } = refusalFor(error, request) ?? {}
    throw (statusCode < 500 && limitationOf(request)) || error
  })

  // The server of the console asks before it has seen anything but the id, and sends the answer in a header to anybody.
  app.get('/:id/frame', {
    config: { isOpen: true },
    schema: {
      operationId: 'getEmbedFrame',
      summary: 'List the origins whose pages may frame an embed session',
      description:
        'Those that an admin has listed in `embedOrigins` of its workspace, and the operator for all workspaces. A session that is unknown or over is 404. A request draws from the bucket of the session, and a 404 from that of the address.',
      params: Type.Object({ id: Id }),
      response: { 200: EmbedFrame, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const frame = await find(request.params.id)
      if (frame === undefined) throw noSuchSession()
      await draw(request, reply, frame)
      return { origins: joinOrigins(frame.origins) }
    },
  })

  // Who has no right secret learns nothing.
  app.post('/:id/open', {
    bodyLimit: 4_096,
    config: { isOpen: true },
    preValidation: async (request) => noteUnstorable(request),
    schema: {
      operationId: 'openEmbedSession',
      summary: 'Exchange the secret of the link of an embed session for its token, once',
      description:
        'A link that is unknown, was used, or is older than five minutes, and one of a session that is over, are the same 404. The right secret draws from the bucket of the session, and any other request from that of the address.',
      params: Type.Object({ id: Id }),
      body: Type.Object(
        { secret: Type.String({ minLength: 1, maxLength: 200 }) },
        { additionalProperties: false, title: 'EmbedSessionToOpen' },
      ),
      response: { 200: OpenedEmbedSession, ...refusalResponses(404, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const { secret } = request.body
      const frame = await find(request.params.id)
      if (frame === undefined || !opensSession(frame, secret)) throw noSuchSession()
      await draw(request, reply, frame)
      const opened = await openEmbedSession(app.database, frame, secret)
      return { ...opened, origins: joinOrigins(opened.origins) }
    },
  })

  async function find(id: string): Promise<SessionFrame | undefined> {
    return isUuid(id) ? load(id.toLowerCase()) : undefined
  }

  /** @throws a 429 refusal, which leaves the link as it is */
  async function draw(request: FastifyRequest, reply: FastifyReply, frame: SessionFrame): Promise<void> {
    request.bucketOwner = {
      kind: 'frames',
      owner: `frame:${frame.grant.id}`,
      rateClass: 'authenticated',
      tenant: frame,
    }
    await app.consumeToken(request, reply)
    const limitation = limitationOf(request)
    if (limitation) throw limitation
  }
}
