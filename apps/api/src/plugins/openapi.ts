import { sharedSchemas } from '@automation/engine'
import swagger from '@fastify/swagger'
import reference from '@scalar/fastify-api-reference'
import fp from 'fastify-plugin'

/** No part of the page asks or tells anybody else. */
const fromHereAlone = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
} as const

const tags = ['Rules', 'Running', 'Outcomes', 'Health of the rules', 'Webhooks', 'Administration', 'Probes']

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
})
