import { serviceEventSchemas } from '@automation/access'
import type { Schema } from './document.js'

const headers = [
  ['webhook-id', 'Identifies the event, and is the same for each attempt to deliver it'],
  ['webhook-timestamp', 'Unix seconds of this attempt: refuse one that is more than 5 minutes away'],
  [
    'webhook-signature',
    'Standard Webhooks: `v1,` and a base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`; one for each active secret, separated by spaces',
  ],
] as const

/** The events that subscriptions receive. @param examples bodies by type */
export function describeWebhooks(examples: Record<string, object>) {
  return Object.fromEntries(
    Object.entries(serviceEventSchemas).map(([type, schema]) => [
      type,
      { post: describeEvent(type, schema as Schema, examples[type]) },
    ]),
  )
}

function describeEvent(type: string, data: Schema, example: object | undefined) {
  const name = type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())
  return {
    operationId: `receive${name}`,
    summary: data.description,
    description:
      'Sent to each active subscription to this type. A 2xx response ends the delivery; 408, 425, 429, 5xx and no response repeat it, up to 15 times. Check the signature before you read the body, and deduplicate by `webhook-id`.',
    tags: ['Subscriptions'],
    security: [],
    parameters: headers.map(([header, description]) => ({
      name: header,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            title: `${name}Event`,
            type: 'object',
            required: ['type', 'timestamp', 'data'],
            properties: {
              type: { type: 'string', const: type },
              timestamp: { type: 'string', format: 'date-time', description: 'Time of the event' },
              data,
              consoleUrl: {
                type: 'string',
                description: 'The page of the console about it, if the operator has set one up',
              },
            },
          },
          ...(example && { example }),
        },
      },
    },
    responses: {
      '2XX': { description: 'The event is accepted' },
      '4XX': { description: 'The delivery ends, except with 408, 425 and 429' },
    },
  }
}
