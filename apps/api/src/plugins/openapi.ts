import { sharedSchemas } from '@automation/engine'
import swagger from '@fastify/swagger'
import reference from '@scalar/fastify-api-reference'
import fp from 'fastify-plugin'
import { fillMissingBody } from './bodies.js'

/** No part of the page asks or tells anybody else. */
const fromHereAlone = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
} as const

const tags = [
  'Rules',
  'Running',
  'Outcomes',
  'Health of the rules',
  'Email templates',
  'Webhooks',
  'Administration',
  'Probes',
]

/** Marks an operation on its way into the document. */
const optionalBody = 'x-optional-body'

/** The document follows from the routes' schemas; `/docs` shows it, from this process alone. */
export default fp(async (app) => {
  for (const schema of sharedSchemas) app.addSchema(schema)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Automation rules',
        version: '0.1.0',
        description:
          'Rules (trigger, conditions, actions) for each workspace, fired by events, run by workers.',
      },
      tags: tags.map((name) => ({ name })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'of a member' },
          workspace: { type: 'apiKey', in: 'header', name: 'x-workspace-id' },
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'ark_…',
            description: 'of a program: an API key, which knows its workspace and may do what its scopes say',
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
      tellOptionalBodies(documents.openapiObject)
      return documents.openapiObject
    },
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `schema-${index}`),
    },
  })
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, isOpen: true }
    })
    await docs.register(reference, {
      routePrefix: '/docs',
      configuration: { content: () => app.swagger(), ...fromHereAlone },
    })
  })
}, { name: 'openapi' })

/** By itself the plugin calls every body required. */
function tellOptionalBodies({ paths = {} }: { paths?: object }): void {
  const operations = Object.values(paths).flatMap((path: object) => Object.values(path))
  for (const operation of operations as { requestBody?: { required: boolean }; [optionalBody]?: true }[]) {
    if (operation.requestBody && operation[optionalBody]) operation.requestBody.required = false
    delete operation[optionalBody]
  }
}
