import { describeUnknownType, isEventType } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { keyTextOf } from '../../acceptance/idempotency/request-key.js'
import { refusals } from '../../errors.js'
import { refusalResponses } from '../../responses.js'
import { maxBatchEvents } from '../../vocabulary/vocabulary.js'
import {
  BatchAnswer,
  type BatchResult,
  type EvaluatedEvent,
  evaluateEvents,
  findReplayed,
  postBatch,
} from './batch.js'
import { readType, typedEvent } from './typed-event.js'

const TypedBatchEvent = Type.Object(typedEvent, { additionalProperties: false, title: 'BatchEventToPost' })
type TypedBatchEvent = Type.Static<typeof TypedBatchEvent>

export const postBatchRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/batch', {
    attachValidation: true,
    config: { role: 'operator', key: 'parts', evaluatesParts: true },
    schema: {
      operationId: 'postEventBatch',
      summary: 'Post up to 500 events of any types. Each event has its own result',
      description:
        'The response is 202 and waits for no outcome: each result has the id of its event. An invalid event is refused, and the others are accepted. 50 events cost one token of the rate limit.',
      body: Type.Object(
        { events: Type.Array(TypedBatchEvent, { minItems: 1, maxItems: maxBatchEvents }) },
        { additionalProperties: false, title: 'EventBatchToPost' },
      ),
      response: { 202: BatchAnswer, ...refusalResponses(413, 415, 422) },
    },
    handler: async (request, reply) => {
      const events = evaluateEvents<TypedBatchEvent>(request, readType)
      // It would stand for all of them, and says nothing of which of them came before.
      if (keyTextOf(request) !== undefined) throw refusals.keyOfBatch()
      return postBatch(request, reply, await refuseUnknownTypes(request, events))
    },
  })
}

/** To find the nearest names takes time. */
const maxExplained = 5

/** An event whose type the workspace does not have is refused, unless it was accepted while there was such a type. */
async function refuseUnknownTypes(
  request: FastifyRequest,
  events: EvaluatedEvent[],
): Promise<(EvaluatedEvent | BatchResult)[]> {
  const isForeign = (event: EvaluatedEvent) => 'type' in event && !isEventType(event.type)
  if (!events.some(isForeign)) return events
  const own = await request.server.eventTypes.readOwn(request.workspace.id)
  const unknown = new Set(
    events.flatMap((event) =>
      'errors' in event || isEventType(event.type) || own.has(event.type) ? [] : [event.type],
    ),
  )
  const hints = new Map(
    [...unknown].slice(0, maxExplained).map((type) => [type, ` ${describeUnknownType(type, [...own])}`]),
  )
  return Promise.all(
    events.map(async (event, index) => {
      if ('errors' in event || !unknown.has(event.type)) return event
      const message = `Must be an event type.${hints.get(event.type) ?? ''}`
      return (
        (await findReplayed(request, event, index)) ?? {
          errors: [{ field: `events[${index}].eventType`, message }],
        }
      )
    }),
  )
}
