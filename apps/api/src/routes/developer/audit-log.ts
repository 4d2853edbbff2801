import { AuditAction, actorForms } from '@automation/access'
import { clockSkewMs, firstIdOf } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { checkQuery, readRange } from '../../lists/history-filter.js'
import { cutPage, pageArguments } from '../../lists/page.js'
import { StorableText } from '../../lists/search-text.js'
import { Id, NextCursor, PageQuery, refusalResponses, Timestamp } from '../../responses.js'

const AuditEntry = Type.Object(
  {
    id: Id,
    actor: Type.String({ description: actorForms }),
    action: AuditAction,
    subject: Type.String({ description: 'Id of the changed object' }),
    details: Type.Object({}, { additionalProperties: true }),
    at: Timestamp,
  },
  { title: 'AuditEntry' },
)

const AuditQuery = Type.Object({
  ...PageQuery,
  action: Type.Optional({ ...AuditAction, description: 'Only changes of this kind' }),
  actor: Type.Optional({ ...StorableText, description: 'Only changes by this actor, such as `user:ada`' }),
  subject: Type.Optional({ ...StorableText, description: 'Only changes of the object with this id' }),
  from: Type.Optional(
    Type.String({ description: 'Start of the range, inclusive: an ISO 8601 date, or a time with a zone' }),
  ),
  to: Type.Optional(
    Type.String({ description: 'End of the range, exclusive: an ISO 8601 date, or a time with a zone' }),
  ),
})

const defaultLimit = 50

export const auditLogRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listAuditEntries',
      summary: 'List the changes in the workspace and their actors, newest first',
      description:
        'Each change has one entry, written in the same transaction. Narrow it by `actor`, `action` or `subject` to find who did something.',
      querystring: AuditQuery,
      response: {
        200: Type.Object({ data: Type.Array(AuditEntry), nextCursor: NextCursor }, { title: 'AuditLogPage' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) => {
      checkQuery(AuditQuery, query)
      const limit = query.limit ?? defaultLimit
      const { where, ...page } = pageArguments(query, limit)
      const rows = await workspace.reads.auditEntry.findMany({
        where: { AND: [where, filterOf(query)] },
        ...page,
      })
      const cut = cutPage(rows, limit)
      return {
        data: cut.page.map(({ workspaceId: _, action, details, at, ...entry }) => ({
          ...entry,
          action: action as AuditAction,
          details: details as object,
          at: at.toISOString(),
        })),
        nextCursor: cut.nextCursor,
      }
    },
  })
}

function filterOf({ action, actor, subject, ...range }: Type.Static<typeof AuditQuery>) {
  const { from, to } = readRange(range)
  return {
    // The ids lead the index there; the time decides.
    id: {
      ...(from && { gte: firstIdOf(Math.max(0, from.getTime() - clockSkewMs)) }),
      ...(to && { lt: firstIdOf(to.getTime() + clockSkewMs) }),
    },
    at: { ...(from && { gte: from }), ...(to && { lt: to }) },
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
    ...(subject === undefined ? {} : { subject }),
  }
}
