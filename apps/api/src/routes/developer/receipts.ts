import { Provider } from '@automation/access'
import { clockSkewMs, isUuid } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { permits } from '../../access/permissions.js'
import { refusals } from '../../errors.js'
import { checkQuery, firstIdAt, readQueryTime, TimeRange } from '../../lists/history-filter.js'
import { cutPage, pageArguments } from '../../lists/page.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { acceptedFields, presentAccepted, presentRejected, Receipt, ReceiptState } from './present-receipt.js'

const ReceiptQuery = Type.Object({
  ...PageQuery,
  provider: Type.Optional(Provider),
  state: Type.Optional({
    ...ReceiptState,
    description: 'accepted (default) or rejected: only those webhooks',
  }),
  ...TimeRange,
})

const defaultLimit = 50

export const receiptRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer', scope: 'receipts:read' },
    schema: {
      operationId: 'listWebhookReceipts',
      summary: 'List accepted or rejected webhooks, newest first',
      description:
        'By default those that were accepted. `state=rejected` lists those that were refused, each with its reason and a diagnosis of its signature.',
      querystring: ReceiptQuery,
      response: {
        200: Type.Object({ data: Type.Array(Receipt), nextCursor: NextCursor }, { title: 'ReceiptPage' }),
        ...refusalResponses(),
      },
    },
    handler: async (request) => {
      const { query, workspace } = request
      checkQuery(ReceiptQuery, query)
      const limit = query.limit ?? defaultLimit
      const { where, ...page } = pageArguments(query, limit)
      const search = { where: { AND: [where, filterOf(query)] }, ...page }
      if (query.state === 'rejected') {
        const cut = cutPage(await workspace.reads.webhookRejection.findMany(search), limit)
        const isAdmin = isAskedByAdmin(request)
        return { data: cut.page.map((row) => presentRejected(row, isAdmin)), nextCursor: cut.nextCursor }
      }
      const rows = await workspace.reads.webhookReceipt.findMany({ ...search, select: acceptedFields })
      const cut = cutPage(rows, limit)
      return { data: cut.page.map(presentAccepted), nextCursor: cut.nextCursor }
    },
  })

  app.get('/:id', {
    config: { role: 'viewer', scope: 'receipts:read' },
    schema: {
      operationId: 'getWebhookReceipt',
      summary: 'Get a receipt of an accepted or rejected webhook',
      description: 'It names the events that the webhook became. For a rejected one it says what was wrong.',
      params: Type.Object({ id: Id }),
      response: { 200: Receipt, ...refusalResponses(404) },
    },
    handler: async (request) => {
      const { database, reads } = request.workspace
      if (!isUuid(request.params.id)) throw refusals.receiptNotFound()
      const where = { id: request.params.id }
      const accepted = await database.webhookReceipt.findUnique({ where, select: acceptedFields })
      if (accepted) return { ...presentAccepted(accepted), ...(await readWarnings(reads, accepted.eventIds)) }
      const rejected = await database.webhookRejection.findUnique({ where })
      if (rejected) return presentRejected(rejected, isAskedByAdmin(request))
      throw refusals.receiptNotFound()
    },
  })
}

/** Those of its first event, WEBHOOK_RECEIVED, as long as that is kept. */
async function readWarnings({ event }: FastifyRequest['workspace']['reads'], [id]: string[]) {
  const found = id === undefined ? null : await event.findUnique({ where: { id }, select: { data: true } })
  const { warnings } = (found?.data ?? {}) as Pick<Receipt, 'warnings'>
  return warnings && { warnings }
}

/** The ids lead to the rows by their index: they carry the time, of the API's clock. */
function filterOf({ provider, from, to }: { provider?: string; from?: string; to?: string }) {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(from === undefined
      ? {}
      : { id: { gte: firstIdAt(from, -clockSkewMs) }, receivedAt: { gte: readQueryTime(from) } }),
    ...(to === undefined
      ? {}
      : { AND: { id: { lt: firstIdAt(to, clockSkewMs) }, receivedAt: { lt: readQueryTime(to) } } }),
  }
}

/** The findings of the signature diagnosis say which secrets exist, and only admins manage those. */
function isAskedByAdmin({ caller }: FastifyRequest): boolean {
  const permissions = caller?.permissions
  return typeof permissions === 'object' && permits(permissions, 'admin')
}
