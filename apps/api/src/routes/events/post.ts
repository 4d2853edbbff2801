import type { WorkLimits } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { keyTextOf } from '../../acceptance/idempotency/request-key.js'
import { type StoredResponse, sendStored } from '../../acceptance/idempotency/stored-response.js'
import { PreferHeader } from '../../acceptance/prefer.js'
import { EventResult } from '../../acceptance/results.js'
import { Accepted } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { refusalResponses } from '../../responses.js'
import {
  aboutEvaluations,
  aboutGiven,
  dryRunFields,
  ExplainQuery,
  isDryRun,
  postEvent,
  readGiven,
} from './post-event.js'
import { readType, typedEvent } from './typed-event.js'

export const postRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.post('/', {
    config: { role: ({ body }) => (isDryRun(body) ? 'viewer' : 'operator'), key: 'event' },
    schema: {
      operationId: 'postEvent',
      summary: 'Post an event. Every active rule for its type runs',
      description: `The request waits up to 10 seconds for the outcome, unless Prefer says otherwise. 200: the outcome. 202: the event is committed and runs in the background. Both have the id of the event, for GET /api/events/{id} and GET /api/events/{id}/why. A dry run shows what each rule would do. It has no effects, and stores and counts nothing; ${aboutGiven} ${aboutEvaluations}`,
      headers: PreferHeader,
      querystring: ExplainQuery,
      body: Type.Object(
        { ...typedEvent, ...dryRunFields },
        {
          additionalProperties: false,
          title: 'EventToPost',
          examples: [
            { eventType: 'LEAD_CREATED', data: { name: 'Ada', email: 'ada@example.com', score: 95 } },
          ],
        },
      ),
      response: { 200: EventResult, 202: Accepted, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, query } = request
      const named = readType(body)
      if ('fault' in named) throw refusals.invalid([named.fault])
      const event = {
        type: named.type,
        data: body.data,
        ...readGiven(body),
        isDryRun: isDryRun(body),
        explains: query.explain === true,
        key: readOneKey(request, body.idempotencyKey),
      }
      return postEvent(request, reply, event, workLimits, (response) => sendStored(reply, withId(response)))
    },
  })
}

/** A caller may set the key where it is easier. @throws a 422 refusal for two different keys */
function readOneKey(request: FastifyRequest, ofBody: string | undefined): string | undefined {
  const ofHeader = keyTextOf(request)
  if (ofBody !== undefined && ofHeader !== undefined && ofBody !== ofHeader)
    throw refusals.invalid([
      { field: 'idempotencyKey', message: 'Must be the same as the header Idempotency-Key' },
    ])
  return ofBody ?? ofHeader
}

/** What is stored for a repeat is the same for all routes that post events: the id is in its location. */
function withId({ status, headers, body }: StoredResponse): StoredResponse {
  const location = headers.location ?? headers['content-location'] ?? ''
  return { status, headers, body: { id: location.slice(location.lastIndexOf('/') + 1), ...body } }
}
