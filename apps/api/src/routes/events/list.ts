import { listEvents, narrowEvents } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readCursor, writeCursor } from '../../lists/cursor.js'
import { addExcerpts, ExcerptQuery } from '../../lists/excerpt.js'
import { checkQuery, checkTypeInQuery, readRange } from '../../lists/history-filter.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { eventFilter } from './event-filter.js'
import { EventStatus, ListedEvent, presentListedEvent } from './event-schemas.js'

const EventQuery = Type.Object({
  ...PageQuery,
  ...eventFilter,
  status: Type.Optional(EventStatus),
  excerpt: ExcerptQuery,
})

const defaultLimit = 50

export const eventListRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listEvents',
      summary: 'List events, newest first',
      description:
        'If few of many events match, a page can be short or empty and still have a nextCursor. The list contains deliveries to a subscription only if the filter names the subscription or their type.',
      querystring: EventQuery,
      response: {
        200: Type.Object({ events: Type.Array(ListedEvent), nextCursor: NextCursor }, { title: 'EventPage' }),
        ...refusalResponses(),
      },
    },
    handler: async (request) => {
      const { query, workspace } = request
      checkQuery(EventQuery, query)
      await checkTypeInQuery(request, query)
      const { limit = defaultLimit, cursor, eventType: type, ruleId, subscriptionId, status } = query
      const narrowing = narrowEvents(workspace.id, {
        ...(type !== undefined && { type }),
        ...(ruleId !== undefined && { ruleId }),
        ...(subscriptionId !== undefined && { subscriptionId }),
        ...(status !== undefined && { status }),
        ...readRange(query),
      })
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const { rows, end } = await listEvents(workspace.reads, narrowing, { before, limit })
      const events = rows.map(presentListedEvent)
      return {
        events: query.excerpt
          ? await addExcerpts(workspace.reads, workspace.id, events, ({ id }) => id)
          : events,
        nextCursor: writeCursor(end),
      }
    },
  })
}
