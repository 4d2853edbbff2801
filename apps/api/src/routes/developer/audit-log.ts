import { AuditAction } from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { cutPage, pageArguments } from '../../lists/page.js'
import { StorableText } from '../../lists/search-text.js'
import { Id, NextCursor, PageQuery, refusalResponses, Timestamp } from '../../responses.js'

const AuditEntry = Type.Object(
  {
    id: Id,
    actor: Type.String({ description: '`user:<sub>`, `api_key:<id>` or `cli:<system user>`' }),
    action: AuditAction,
    subject: Type.String({ description: 'Id of the changed object' }),
    details: Type.Object({}, { additionalProperties: true }),
    at: Timestamp,
  },
  { title: 'AuditEntry' },
)

const AuditQuery = Type.Object({
  ...PageQuery,
  action: Type.Optional(AuditAction),
  actor: Type.Optional(StorableText),
  subject: Type.Optional(StorableText),
})

const defaultLimit = 50

export const auditLogRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      tags: ['Administration'],
      operationId: 'listAuditEntries',
      summary: 'List the changes in the workspace and their actors, newest first',
      querystring: AuditQuery,
      response: {
        200: Type.Object({ data: Type.Array(AuditEntry), nextCursor: NextCursor }, { title: 'AuditLogPage' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) => {
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

function filterOf({ action, actor, subject }: Type.Static<typeof AuditQuery>) {
  return {
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
    ...(subject === undefined ? {} : { subject }),
  }
}
