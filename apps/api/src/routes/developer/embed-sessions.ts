import {
  type Administrator,
  createEmbedSession,
  EmbedSession,
  EmbedSessionToCreate,
  endEmbedSession,
  endEmbedSessionsOfUser,
  listEmbedSessions,
  NewEmbedSession,
} from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { permits, scopeOf } from '../../access/permissions.js'
import { refusals } from '../../errors.js'
import { readCursor } from '../../lists/cursor.js'
import { cutPage } from '../../lists/page.js'
import { StorableText } from '../../lists/search-text.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { presentCreated } from './present-created.js'

const defaultLimit = 50
const access = { role: 'admin', scope: 'embed' } as const
const ofUser = Type.String({ ...StorableText, minLength: 1, maxLength: 200 })

/** @param consoleUrl without a slash at its end */
export const embedSessionRoutes: FastifyPluginAsyncTypebox<{ consoleUrl: string }> = async (
  app,
  { consoleUrl },
) => {
  app.post('/', {
    config: { ...access, key: 'change' },
    schema: {
      operationId: 'createEmbedSession',
      summary: 'Create a session for a frame in your product. Only this response contains its link',
      description:
        'Its link works once, within five minutes. A key needs the scope `embed` beside that of the role: `rules:read`, `rules:run` or `rules:write`; `admin` includes all. [What a session may](/docs/reference/embed-sessions), and when it ends. A workspace has at most 10,000 at a time (409, `limit_reached`).',
      body: EmbedSessionToCreate,
      response: { 201: NewEmbedSession, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      refuseHigherRole(request, request.body.role)
      const create = (administrator: Administrator) => createEmbedSession(administrator, request.body)
      const present = ({ id, secret, expiresAt }: Awaited<ReturnType<typeof create>>) =>
        presentCreated(`${app.prefix}/${id}`, { id, url: `${consoleUrl}/embed/${id}#${secret}`, expiresAt })
      return sendStored(reply, await changeOnce(request, create, present, 'url'))
    },
  })

  app.get('/', {
    config: access,
    schema: {
      operationId: 'listEmbedSessions',
      summary: 'List the live embed sessions of the workspace, newest first',
      description: 'Those that have not ended, without their links and tokens.',
      querystring: Type.Object({
        ...PageQuery,
        userId: Type.Optional({ ...ofUser, description: 'Only sessions of this user of yours' }),
      }),
      response: {
        200: Type.Object(
          { data: Type.Array(EmbedSession), nextCursor: NextCursor },
          { title: 'EmbedSessionList' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace: { id, reads } }) => {
      const { limit = defaultLimit, cursor, userId } = query
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const rows = await listEmbedSessions(reads, id, { before, userId, take: limit + 1 })
      const { page, nextCursor } = cutPage(rows, limit)
      return { data: page, nextCursor }
    },
  })

  app.delete('/', {
    config: access,
    schema: {
      operationId: 'endEmbedSessionsOfUser',
      summary: 'End all live embed sessions of a user of yours',
      description: 'Their tokens and links are invalid from the next request on.',
      querystring: Type.Object({ userId: { ...ofUser, description: 'As in `user.id` of the sessions' } }),
      response: {
        200: Type.Object({ ended: Type.Integer() }, { title: 'EmbedSessionsEnded' }),
        ...refusalResponses(413, 415),
      },
    },
    handler: async (request) => ({
      ended: await endEmbedSessionsOfUser(administratorOf(request), request.query.userId),
    }),
  })

  app.delete('/:id', {
    config: access,
    schema: {
      operationId: 'endEmbedSession',
      summary: 'End an embed session',
      description:
        'Its token and its link are invalid from the next request on. To end it again changes nothing.',
      params: Type.Object({ id: Id }),
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await endEmbedSession(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })
}

/** A session may do at most what its maker may. */
function refuseHigherRole({ caller }: FastifyRequest, role: EmbedSessionToCreate['role']): void {
  if (caller?.permissions === undefined || !permits(caller.permissions, role))
    throw refusals.accessDenied(
      `A session with the role ${role} needs the scope ${scopeOf(role)}`,
      scopeOf(role),
    )
}
