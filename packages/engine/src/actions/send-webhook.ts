import { Type } from 'typebox'
import { httpUrl } from '../formats.js'
import type { ActionDefinition } from './action-definition.js'

// Latin-1 without control characters: the most that an HTTP header can carry, and no line break among it.
const headerValue = '^[\\t\\x20-\\x7e\\x80-\\xff]*$'

export const sendWebhook = {
  type: 'SEND_WEBHOOK',
  config: Type.Object(
    {
      url: Type.String({ minLength: 1, maxLength: 2000, description: 'http or https' }),
      method: Type.Optional(
        Type.Enum(['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], { description: 'POST where omitted' }),
      ),
      headers: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          maxProperties: 50,
          patternProperties: {
            "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$": { type: 'string', maxLength: 2000, pattern: headerValue },
          },
          additionalProperties: false,
        }),
      ),
      body: Type.Optional(Type.Unknown({ description: 'Any JSON; strings in it may hold placeholders' })),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 30_000 })),
    },
    { additionalProperties: false },
  ),
  formats: { url: httpUrl },
} as const satisfies ActionDefinition
