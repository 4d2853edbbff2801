import { Prisma } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { checkQuery } from '../../history-filter.js'
import { scanPage } from '../../page.js'
import { NextCursor, PageQuery, refusalAnswers } from '../answers.js'
import { eventFilter, eventStatus, narrowEvents } from './event-filter.js'
import { type EventRow, EventStatus, ListedEvent, presentRow } from './event-schemas.js'

const EventQuery = Type.Object({ ...PageQuery, ...eventFilter, status: Type.Optional(EventStatus) })

const defaultLimit = 50

export const listRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Outcomes'],
      summary: 'List events, newest first',
      description:
        'Where few of many match, a page may be short, or empty, and still have a nextCursor. What is told to a subscription is listed where it, or its type, is named.',
      querystring: EventQuery,
      response: {
        200: Type.Object({ events: Type.Array(ListedEvent), nextCursor: NextCursor }),
        ...refusalAnswers(),
      },
    },
    handler: async ({ query, workspace }) => {
      checkQuery(EventQuery, query)
      const { limit = defaultLimit } = query
      const { page, nextCursor } = await scanPage<EventRow & Pick<ListedEvent, 'status' | 'triggered'>>(
        workspace.database,
        Prisma.sql`events`,
        columns,
        narrowEvents(workspace.id, query),
        { ...query, limit },
      )
      const events = page.map((row) => ({
        ...presentRow(row),
        status: row.status,
        triggered: row.triggered,
      }))
      return { events, nextCursor }
    },
  })
}

const columns = Prisma.sql`
  id, workspace_id AS "workspaceId", type, rule_id AS "ruleId", depth, caused_by AS "causedBy",
  replay_of AS "replayOf", crashes, ${eventStatus} AS status, accepted_at AS "acceptedAt", done_at AS "doneAt",
  CASE
    WHEN rule_set_id IS NULL THEN 0
    WHEN rule_id IS NOT NULL THEN 1
    ELSE (SELECT cardinality(rule_ids) FROM rule_sets
          WHERE rule_sets.workspace_id = events.workspace_id AND rule_sets.id = events.rule_set_id)
  END AS triggered`
