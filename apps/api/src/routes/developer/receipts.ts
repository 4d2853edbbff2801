import { Provider } from '@automation/administration'
import { firstIdOf, isUuid } from '@automation/database'
import { parseTimestamp } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { cutPage, pageArguments } from '../../page.js'
import { permits } from '../../permissions.js'
import { Id, NextCursor, PageQuery, refusalAnswers } from '../answers.js'
import { acceptedFields, presentAccepted, presentRejected, Receipt, ReceiptState } from './present-receipt.js'

const ReceiptQuery = Type.Object({
  ...PageQuery,
  provider: Type.Optional(Provider),
  state: Type.Optional(ReceiptState),
  from: Type.Optional(
    Type.String({ description: 'received then or later: ISO 8601, a date or with a zone' }),
  ),
  to: Type.Optional(Type.String({ description: 'received before: ISO 8601, a date or with a zone' })),
})

const defaultLimit = 50

export const receiptRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer', scope: 'receipts:read' },
    schema: {
      tags: ['Webhooks'],
      summary: 'List the webhooks that were accepted, or the ones that were refused, newest first',
      querystring: ReceiptQuery,
      response: {
        200: Type.Object({ data: Type.Array(Receipt), nextCursor: NextCursor }),
        ...refusalAnswers(),
      },
    },
    handler: async (request) => {
      const { query, workspace } = request
      const limit = query.limit ?? defaultLimit
      const { where, ...page } = pageArguments(query, limit)
      const search = { where: { AND: [where, filterOf(query)] }, ...page }
      if (query.state === 'rejected') {
        const cut = cutPage(await workspace.database.webhookRejection.findMany(search), limit)
        const isAdmin = isAskedByAdmin(request)
        return { data: cut.page.map((row) => presentRejected(row, isAdmin)), nextCursor: cut.nextCursor }
      }
      const rows = await workspace.database.webhookReceipt.findMany({ ...search, select: acceptedFields })
      const cut = cutPage(rows, limit)
      return { data: cut.page.map(presentAccepted), nextCursor: cut.nextCursor }
    },
  })

  app.get('/:id', {
    config: { role: 'viewer', scope: 'receipts:read' },
    schema: {
      tags: ['Webhooks'],
      summary: 'Read one receipt, accepted or rejected',
      params: Type.Object({ id: Id }),
      response: { 200: Receipt, ...refusalAnswers(404) },
    },
    handler: async (request) => {
      const { database } = request.workspace
      if (!isUuid(request.params.id)) throw refusals.receiptNotFound()
      const where = { id: request.params.id }
      const accepted = await database.webhookReceipt.findUnique({ where, select: acceptedFields })
      if (accepted) return presentAccepted(accepted)
      const rejected = await database.webhookRejection.findUnique({ where })
      if (rejected) return presentRejected(rejected, isAskedByAdmin(request))
      throw refusals.receiptNotFound()
    },
  })
}

/** What the clocks of an API process and of Postgres may differ. */
const clockSkewMs = 60 * 60 * 1_000

/** The ids lead to the rows by their index: they carry the time, of the API's clock. */
function filterOf({ provider, from, to }: { provider?: string; from?: string; to?: string }) {
  const start = from === undefined ? undefined : readTime('from', from)
  const end = to === undefined ? undefined : readTime('to', to)
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(start && {
      id: { gte: firstIdOf(Math.max(start.getTime() - clockSkewMs, 0)) },
      receivedAt: { gte: start },
    }),
    ...(end && { AND: { id: { lt: firstIdOf(end.getTime() + clockSkewMs) }, receivedAt: { lt: end } } }),
  }
}

function readTime(name: string, text: string): Date {
  const time = parseTimestamp(text)
  if (Number.isNaN(time))
    throw refusals.badRequest(`Query parameter ${name} must be an ISO 8601 date, or a time with a zone`)
  // Postgres knows no year 0, and nothing was received before 1970.
  return new Date(Math.max(time, 0))
}

/** The signature doctor's findings say which secrets exist, and only admins manage those. */
function isAskedByAdmin({ caller }: FastifyRequest): boolean {
  const permissions = caller?.permissions
  return typeof permissions === 'object' && permits(permissions, 'admin')
}
