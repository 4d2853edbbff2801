import type { WorkLimits } from '@automation/engine'
import { listEvents, narrowEvents } from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readWords } from '../../evaluation/find-words.js'
import { readCursor, writeCursor } from '../../lists/cursor.js'
import { addExcerpts, ExcerptQuery } from '../../lists/excerpt.js'
import { checkQuery, checkTypeInQuery, readRange } from '../../lists/history-filter.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { eventFilter } from './event-filter.js'
import { EventStatus, ListedEvent, presentListedEvent } from './event-schemas.js'
import { findEvents, SearchWords } from './find-events.js'

const EventQuery = Type.Object({
  ...PageQuery,
  ...eventFilter,
  status: Type.Optional(EventStatus),
  q: SearchWords,
  excerpt: ExcerptQuery,
})

const defaultLimit = 50

export const eventListRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listEvents',
      summary: 'List events, newest first',
      description:
        'If few of many events match, a page can be short or empty and still have a nextCursor. The list contains deliveries to a subscription only if the filter names the subscription or their type. With `q`, a page searches at most 20,000 events.',
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
      const words = readWords(query.q ?? '')
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const range = { ...(type !== undefined && { type }), ...readRange(query) }
      // What has the words is found first, and then narrowed.
      const found =
        words.length === 0
          ? undefined
          : await findEvents(request, { conditions: [], words, range, limit }, before, workLimits)
      const narrowing = narrowEvents(workspace.id, {
        ...range,
        ...(found && { ids: found.ids }),
        ...(ruleId !== undefined && { ruleId }),
        ...(subscriptionId !== undefined && { subscriptionId }),
        ...(status !== undefined && { status }),
      })
      const { rows, end } = await listEvents(workspace.reads, narrowing, { before, limit })
      const events = rows.map(presentListedEvent)
      return {
        events: query.excerpt
          ? await addExcerpts(workspace.reads, workspace.id, events, ({ id }) => id)
          : events,
        nextCursor: writeCursor(found === undefined ? end : found.end),
      }
    },
  })
}
