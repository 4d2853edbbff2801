import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { etagOf, isKnown } from '../etag.js'
import { listVocabulary, type VocabularyOptions } from '../vocabulary/vocabulary.js'
import { Vocabulary } from '../vocabulary/vocabulary-schema.js'
import { refusalResponses } from './responses.js'

/** The rule language as data, for forms and for people who have only curl. It changes with the version of the service alone. */
export const vocabularyRoutes: FastifyPluginAsyncTypebox<VocabularyOptions> = async (app, options) => {
  let text: string | undefined
  let etag: string | undefined

  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Rules'],
      operationId: 'getVocabulary',
      summary: 'Get the vocabulary of rules',
      description:
        'Event types, operators, filters, actions and limits, each with a description and an example. /docs/rules is the same as a page to read.',
      response: { 200: Vocabulary, ...refusalResponses() },
    },
    handler: async (request, reply) => {
      text ??= JSON.stringify(listVocabulary(options))
      etag ??= etagOf(text)
      reply.headers({ etag, 'cache-control': 'private, max-age=300' })
      if (isKnown(request.headers['if-none-match'], etag))
        return reply.status(304 as 200).send(undefined as never)
      // A text is sent as it is: it is serialized once.
      return reply.type('application/json; charset=utf-8').send(text as never)
    },
  })
}
