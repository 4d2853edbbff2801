import {
  findMember,
  ListedMember,
  listMembers,
  Member,
  MemberToPut,
  maxSupportHours,
  putMember,
  Refused,
  removeMember,
} from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administratorOf } from '../../access/administrator.js'
import type { Resource } from '../../etag.js'
import { cutList } from '../../lists/page.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'

const MemberParams = Type.Pick(Member, ['userId'])

const resource: Resource = (transaction, { params }) =>
  findMember(transaction, (params as Type.Static<typeof MemberParams>).userId)

/** A member that does not exist yet has no ETag. */
const resourceIfAny: Resource = (transaction, request) =>
  resource(transaction, request).catch((error: unknown) => {
    if (error instanceof Refused) return null
    throw error
  })

export const memberRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listMembers',
      summary: 'List the members of the workspace, at most 1,000, oldest first',
      description:
        'With the role of each, and when they last opened the console. A member with `endsAt` has support access, which ends then by itself.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object({ data: Type.Array(ListedMember), nextCursor: NextCursor }, { title: 'MemberList' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) =>
      cutList(await listMembers(workspace.database), query, {
        list: 'members',
        placeOf: ({ createdAt, userId }) => `${createdAt} ${userId}`,
      }),
  })

  app.get('/:userId', {
    config: { role: 'admin', resource },
    schema: {
      operationId: 'getMember',
      summary: 'Get a member and their role',
      description:
        'As in the list. A user who is not a member of this workspace is 404, even if they are a member of another one.',
      params: MemberParams,
      response: { 200: Member, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => findMember(workspace.database, params.userId),
  })

  app.put('/:userId', {
    config: { role: 'admin', resource: resourceIfAny },
    schema: {
      operationId: 'putMember',
      summary: 'Add a member, change their role, or grant support access',
      description: `201: the member was added. 200: the role was changed. \`userId\` is the \`sub\` claim of their tokens. The last admin cannot get a lower role (409, \`last_admin\`). With \`endsInHours\` they read as a viewer, without credentials, and their access ends by itself: after ${maxSupportHours} hours at most. To grant it again moves the end. A member without an end cannot get one (409, \`already_a_member\`): remove them first.`,
      params: MemberParams,
      body: MemberToPut,
      response: {
        200: { ...Member, 'x-response-description': 'The member existed before' },
        201: { ...Member, 'x-response-description': 'The member is new' },
        ...refusalResponses(409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { member, isNew } = await putMember(administratorOf(request), {
        ...request.params,
        ...request.body,
      })
      return reply.status(isNew ? 201 : 200).send(member)
    },
  })

  app.delete('/:userId', {
    config: { role: 'admin', resource },
    schema: {
      operationId: 'removeMember',
      summary: 'Remove a member',
      description:
        'From then on their requests are 403. The last admin cannot be removed (409, `last_admin`).',
      params: MemberParams,
      response: { 204: Type.Null(), ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      await removeMember(administratorOf(request), request.params.userId)
      return reply.status(204).send(null)
    },
  })
}
