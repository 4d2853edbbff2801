import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { etagOf, isKnown } from '../etag.js'
import { refusalResponses } from '../responses.js'
import { listVocabulary, type ServiceVocabulary, type VocabularyOptions } from '../vocabulary/vocabulary.js'
import { Vocabulary } from '../vocabulary/vocabulary-schema.js'

const IfNoneMatchHeader = Type.Object({
  'If-None-Match': Type.Optional(Type.String({ description: 'ETag of a response that you already have' })),
})

/** The rule language as data, for forms and for people who have only curl. It changes with the version of the service, and with the event types of the workspace. */
export const vocabularyRoutes: FastifyPluginAsyncTypebox<VocabularyOptions> = async (app, options) => {
  let common: ReturnType<typeof write> | undefined

  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getVocabulary',
      summary: 'Get the vocabulary of rules',
      description:
        'Event types, operators, filters, actions and limits, each with a description and an example. /docs/rules has the same as a page.',
      headers: IfNoneMatchHeader,
      response: {
        200: Vocabulary,
        304: Type.Null({ description: 'Not modified' }),
        ...refusalResponses(),
      },
    },
    handler: async (request, reply) => {
      const own = await request.workspace.reads.ownEventType.findMany({ orderBy: { name: 'asc' } })
      // A text is sent as it is: it is serialized once.
      common ??= write(listVocabulary(options))
      const { text, etag } = own.length === 0 ? common : write(addOwnTypes(listVocabulary(options), own))
      reply.headers({ etag, 'cache-control': 'private, max-age=300' })
      if (isKnown(request.headers['if-none-match'], etag)) return reply.status(304).send(undefined as never)
      return reply.type('application/json; charset=utf-8').send(text as never)
    },
  })
}

function write(vocabulary: ServiceVocabulary): { text: string; etag: string } {
  const text = JSON.stringify(vocabulary)
  return { text, etag: etagOf(text) }
}

/** Which fields their events have is known to their senders alone: GET /api/event-types/:name/fields. */
function addOwnTypes(
  vocabulary: ServiceVocabulary,
  own: { name: string; description: string }[],
): ServiceVocabulary {
  const ownTypes = own.map(({ name, description }) => ({ type: name, description, example: {} }))
  return { ...vocabulary, eventTypes: [...vocabulary.eventTypes, ...ownTypes] }
}
