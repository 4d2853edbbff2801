import { eventTypes, sharedSchemas } from '@automation/engine'
import swagger from '@fastify/swagger'
import fp from 'fastify-plugin'
import { type Document, listOperations, type Operation } from '../openapi/document.js'
import { nameResponses } from '../openapi/name-responses.js'
import { nameSchemas } from '../openapi/name-schemas.js'
import { writeUnions } from '../openapi/write-unions.js'
import { fillMissingBody } from './bodies.js'

const tags = [
  {
    name: 'Rules',
    description:
      'Rules, their definitions and their versions. [The rule language](/docs/rules) lists every operator, filter and action.',
  },
  {
    name: 'Drafts',
    description: 'Drafts, shadow mode and guarded promotion',
  },
  {
    name: 'Running',
    description: 'Post events and execute rules. [Recipes](/docs/recipes) has complete examples.',
  },
  { name: 'Outcomes', description: 'Events, executions and tasks: read, replay and retry' },
  { name: 'Health of the rules', description: 'Success rates, and rules that need attention' },
  { name: 'Email templates', description: 'Templates for the emails of SEND_EMAIL actions' },
  { name: 'Webhooks', description: 'Deliver signed webhooks, and read their receipts' },
  {
    name: 'Administration',
    description: 'Workspaces, members, API keys, secrets, subscriptions, audit log and reconciliation',
  },
  { name: 'Probes', description: 'Liveness and readiness of the process' },
]

/** Marks an operation on its way into the document. */
const optionalBody = 'x-optional-body'

/**
 * The document follows from the schemas of the routes (plugins/docs.ts serves it). A schema with a `title` is a component of that name. Validation and serialization ignore the title and use the same schema inline.
 */
export default fp(
  async (app) => {
    for (const schema of sharedSchemas) app.addSchema(schema)
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Automation rules',
          version: '0.1.0',
          description:
            'Automation rules for workspaces. An event triggers rules; workers evaluate their conditions and execute their actions. Two more pages are for authors of rules: [the rule language](/docs/rules) and [recipes](/docs/recipes).',
        },
        servers: [{ url: '/', description: 'The server that serves this document' }],
        tags,
        components: {
          securitySchemes: {
            token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Token of a member' },
            workspace: { type: 'apiKey', in: 'header', name: 'x-workspace-id' },
            apiKey: {
              type: 'http',
              scheme: 'bearer',
              bearerFormat: 'ark_…',
              description:
                'API key of a program. It belongs to one workspace, and its scopes limit its permissions.',
            },
          },
        },
        security: [{ token: [], workspace: [] }, { apiKey: [] }],
      },
      transform: ({ schema, url, route }) => ({
        url,
        schema: route.preValidation === fillMissingBody ? { ...schema, [optionalBody]: true } : schema,
      }),
      transformObject: (documents) => {
        if (!('openapiObject' in documents)) return documents.swaggerObject
        const document = writeUnions(documents.openapiObject) as Document
        markOptionalBodies(document)
        nameSchemas(document)
        listKnownEventTypes(document)
        nameResponses(document)
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
