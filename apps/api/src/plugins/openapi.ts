import { eventTypes, sharedSchemas } from '@automation/engine'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import fp from 'fastify-plugin'
import { describeAccess } from '../openapi/describe-access.js'
import { describeValues } from '../openapi/describe-values.js'
import { type Document, listOperations, type Operation } from '../openapi/document.js'
import { addExamples, readRecordings } from '../openapi/examples.js'
import { frame, tagOf } from '../openapi/frame.js'
import { addHeaders } from '../openapi/headers.js'
import { nameResponses } from '../openapi/name-responses.js'
import { nameSchemas } from '../openapi/name-schemas.js'
import { describeWebhooks } from '../openapi/webhooks.js'
import { fillMissingBody } from './bodies.js'

/** Marks an operation on its way into the document. */
const optionalBody = 'x-optional-body'

/**
 * The document follows from the schemas and the config of the routes (plugins/docs.ts serves it). A schema with a `title` is a component of
 * that name. Validation and serialization ignore the title and use the same schema inline.
 */
export default fp(
  async (app) => {
    for (const schema of sharedSchemas) app.addSchema(schema)
    await app.register(swagger, {
      openapi: frame as unknown as NonNullable<FastifyDynamicSwaggerOptions['openapi']>,
      transform: ({ schema, url, route }) => {
        if (schema.hide) return { url, schema }
        const { note, ...access } = describeAccess(route.config ?? {})
        const description = [schema.description, note].filter(Boolean).join('\n\n')
        const marked = route.preValidation === fillMissingBody ? { [optionalBody]: true } : {}
        return { url, schema: { ...schema, tags: [tagOf(url)], description, ...access, ...marked } }
      },
      transformObject: (documents) => {
        if (!('openapiObject' in documents)) return documents.swaggerObject
        const document = documents.openapiObject as unknown as Document
        const recordings = readRecordings()
        document.webhooks = describeWebhooks(recordings.webhooks) as NonNullable<Document['webhooks']>
        markOptionalBodies(document)
        nameSchemas(document)
        listKnownEventTypes(document)
        describeValues(document)
        nameResponses(document)
        addHeaders(document)
        addExamples(document, recordings)
        return document as Partial<typeof documents.openapiObject>
      },
      refResolver: {
        buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `schema-${index}`),
      },
    })
  },
  { name: 'openapi' },
)

/** The names of the catalogue, for editors that complete them: other names are as valid, so this is no `enum`. */
function listKnownEventTypes({ components: { schemas } }: Document): void {
  const { EventType } = schemas
  if (EventType !== undefined) schemas.EventType = { ...EventType, 'x-extensible-enum': [...eventTypes] }
}

/** By itself the plugin marks every body as required. */
function markOptionalBodies(document: Document): void {
  for (const operation of listOperations(document) as (Operation & { [optionalBody]?: true })[]) {
    if (operation.requestBody && operation[optionalBody]) operation.requestBody.required = false
    delete operation[optionalBody]
  }
}
