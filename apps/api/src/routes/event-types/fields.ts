import { EventType, isReservedType, ObservedField } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { surveyEventType } from '../../evaluation/survey.js'
import { refusalResponses } from '../../responses.js'

const EventTypeFields = Type.Object(
  {
    eventType: EventType,
    events: Type.Integer({ description: 'Number of events that were surveyed, newest first' }),
    isComplete: Type.Boolean({
      description: 'false if the scan limit was reached before enough events of this type were found',
    }),
    hasMorePaths: Type.Boolean({ description: 'true if there are more than 500 paths' }),
    fields: Type.Array(ObservedField),
  },
  { title: 'EventTypeFields' },
)

const defaultEvents = 1_000
const maxEvents = 50_000

/** What the events of a type look like. Computed when it is asked for: ingestion does nothing for it, and the API parses none of them. */
export const fieldRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:name/fields', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'surveyEventType',
      summary: 'List the fields that the newest events of a type have, with their kinds and values',
      description:
        'Use it to write conditions: it says which fields the newest events have, of which kinds, and with which values most often.',
      params: Type.Object({ name: Type.String({ description: 'Name of the event type' }) }),
      querystring: Type.Object({
        events: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: maxEvents,
            description: `Number of events to survey. Default: ${defaultEvents}`,
          }),
        ),
      }),
      response: { 200: EventTypeFields, ...refusalResponses(404) },
    },
    handler: async (request, reply) => {
      const { params, query, workspace } = request
      if (!isReservedType(params.name) && !(await app.eventTypes.has(workspace.id, params.name)))
        throw refusals.eventTypeNotFound()
      const { fields, isComplete } = await surveyEventType(
        request,
        params.name,
        query.events ?? defaultEvents,
      )
      const head = JSON.stringify({ eventType: params.name, isComplete })
      // The fields are JSON already.
      const body = `${head.slice(0, -1)},${fields.slice(1)}`
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  })
}
