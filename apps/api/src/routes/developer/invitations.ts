import {
  type Administrator,
  acceptInvitation,
  createInvitation,
  Invitation,
  InvitationForUser,
  InvitationToCreate,
  listInvitations,
  NewInvitation,
  readInvitation,
  revokeInvitation,
} from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { cutList } from '../../lists/page.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { presentCreated } from './present-created.js'

const InvitationToAccept = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 200, description: 'What the link has behind its `#`' }),
    dryRun: Type.Optional(
      Type.Boolean({ description: 'true: the response says what would happen, and nothing happens' }),
    ),
  },
  { additionalProperties: false, title: 'InvitationToAccept' },
)

export const invitationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listInvitations',
      summary: 'List the invitations of the workspace, at most 1,000, newest first',
      description:
        'Open ones, and those that were accepted or revoked, or have expired. No token is among them.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object(
          { data: Type.Array(Invitation), nextCursor: NextCursor },
          { title: 'InvitationList' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) =>
      cutList(await listInvitations(workspace.database), query, {
        list: 'invitations',
        placeOf: ({ id }) => id,
        isNewestFirst: true,
      }),
  })

  app.post('/', {
    config: { role: 'admin', key: 'change' },
    schema: {
      operationId: 'createInvitation',
      summary: 'Invite a user by a link. Only this response contains its token',
      description:
        'The first user who signs in and accepts it becomes a member with this role. It works once, for seven days, and as long as its maker is an admin. A workspace has at most 100 open invitations (409, `limit_reached`).',
      body: InvitationToCreate,
      response: { 201: NewInvitation, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const create = (administrator: Administrator) => createInvitation(administrator, request.body)
      const present = (invitation: NewInvitation) =>
        presentCreated(`${app.prefix}/${invitation.id}`, invitation)
      return sendStored(reply, await changeOnce(request, create, present, 'token'))
    },
  })

  app.delete('/:id', {
    config: { role: 'admin' },
    schema: {
      operationId: 'revokeInvitation',
      summary: 'Revoke an open invitation',
      description:
        'Its link is worth nothing from then on. One that was revoked already stays revoked, and the response is the same. One that was accepted is 404: remove the member instead.',
      params: Type.Object({ id: Id }),
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await revokeInvitation(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })

  app.post('/accept', {
    config: { isAboutCaller: true },
    schema: {
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation, or see what it is for (`dryRun`)',
      description:
        'The user of the token in `Authorization` becomes a member of the workspace. The request needs no x-workspace-id. Accepting it again changes nothing. An unknown, used, revoked and expired invitation are the same 404. Who has its role or a higher one gets 409 (`already_a_member`), and the invitation stays open. API keys cannot accept.',
      security: [{ token: [] }],
      body: InvitationToAccept,
      response: { 200: InvitationForUser, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async ({ body: { token, dryRun }, caller, tokenFault }) => {
      if (caller === undefined) throw refusals.authenticationRequired(tokenFault)
      if (caller.userId === undefined) throw refusals.accessDenied('An API key cannot accept an invitation')
      const { database } = app
      if (dryRun) return readInvitation(database, token, caller.userId)
      const publish: Administrator['publish'] = (events) => app.inbox.publish(events)
      return acceptInvitation({ database, publish }, token, caller.userId)
    },
  })
}
