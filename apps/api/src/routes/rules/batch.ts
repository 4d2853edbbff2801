import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { keyTextOf } from '../../acceptance/idempotency/request-key.js'
import { refusals } from '../../errors.js'
import { refusalResponses } from '../../responses.js'
import { maxBatchEvents } from '../../vocabulary/vocabulary.js'
import { BatchAnswer, evaluateEvents, findRepeated, postBatch, sendResults } from '../events/batch.js'
import { typedEvent } from '../events/typed-event.js'

const { data, idempotencyKey } = typedEvent
const BatchEvent = Type.Object({ data, idempotencyKey }, { additionalProperties: false, title: 'BatchEvent' })

export const batchRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/trigger/:eventType/batch', {
    attachValidation: true,
    config: { role: 'operator', key: 'parts', evaluatesParts: true },
    schema: {
      operationId: 'triggerEventBatch',
      summary: 'Post up to 500 events of one type. Each event has its own result',
      description: 'POST /api/events/batch accepts events of different types.',
      params: Type.Object({
        eventType: Type.String({ description: 'Type of the events, such as LEAD_CREATED' }),
      }),
      body: Type.Object(
        { events: Type.Array(BatchEvent, { minItems: 1, maxItems: maxBatchEvents }) },
        { additionalProperties: false, title: 'EventBatch' },
      ),
      response: { 202: BatchAnswer, ...refusalResponses(413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { eventType: type } = request.params
      const events = evaluateEvents(request, () => ({ type }))
      if (!(await app.eventTypes.has(request.workspace.id, type))) {
        const results = await findRepeated(request, events)
        if (results === undefined)
          throw await app.eventTypes.refusalOf(request.workspace.id, type, 'eventType')
        return sendResults(reply, results)
      }
      // It would stand for all of them, and says nothing of which of them came before.
      if (keyTextOf(request) !== undefined) throw refusals.keyOfBatch()
      return postBatch(request, reply, events)
    },
  })
}
