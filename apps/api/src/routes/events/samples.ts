import { findSampleEvents, maxSampleBytes } from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { checkQuery, checkTypeInQuery } from '../../lists/history-filter.js'
import { Id, NextCursor, refusalResponses, Timestamp } from '../../responses.js'
import { EventData } from './event-schemas.js'

const usualLimit = 100

const SampleQuery = Type.Object({
  eventType: Type.Optional(Type.String({ description: 'Only events of this type' })),
  ruleId: Type.Optional(Type.String({ description: 'Only events for which this rule was considered' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 250,
      description: `Maximum number of events. Default: ${usualLimit}.`,
    }),
  ),
})

/** Events to try a rule on before it is saved. */
export const sampleRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/samples', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listSampleEvents',
      summary: 'List the newest events, of all types or of one, with their data',
      description: `Sample events for testing a rule. The response has at most ${maxSampleBytes / 1_048_576} MiB of data: larger events are left out.`,
      querystring: SampleQuery,
      response: {
        200: Type.Object(
          {
            events: Type.Array(
              Type.Object(
                {
                  id: Id,
                  type: Type.String(),
                  eventType: Type.String(),
                  acceptedAt: Timestamp,
                  data: EventData,
                },
                { title: 'SampleEvent' },
              ),
            ),
            nextCursor: NextCursor,
          },
          { title: 'SampleEvents' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async (request) => {
      const { query, workspace } = request
      checkQuery(SampleQuery, query)
      await checkTypeInQuery(request, query)
      const { eventType: type, ruleId, limit = usualLimit } = query
      const { id, reads } = workspace
      const events = await findSampleEvents(reads, id, {
        ...(type !== undefined && { type }),
        ...(ruleId !== undefined && { ruleId }),
        limit,
      })
      return {
        events: events.map(({ id, type, data, acceptedAt }) => ({
          id,
          type,
          eventType: type,
          acceptedAt: acceptedAt.toISOString(),
          data,
        })),
        // The newest of all: there is no second page.
        nextCursor: null,
      }
    },
  })
}
