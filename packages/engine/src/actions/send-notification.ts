import { Type } from 'typebox'
import { httpUrl } from '../formats.js'
import type { ActionDefinition } from './action-definition.js'

export const sendNotification = {
  type: 'SEND_NOTIFICATION',
  config: Type.Object(
    {
      url: Type.String({
        minLength: 1,
        maxLength: 2000,
        description: 'URL of the incoming webhook of a Slack-compatible chat',
      }),
      text: Type.String({ minLength: 1, maxLength: 10_000 }),
    },
    { additionalProperties: false },
  ),
  formats: { url: httpUrl },
} as const satisfies ActionDefinition
