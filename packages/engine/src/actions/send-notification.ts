import { Type } from 'typebox'
import { httpUrl } from '../formats.js'
import type { ActionDefinition } from './action-definition.js'

export const sendNotification = {
  type: 'SEND_NOTIFICATION',
  doneBy: 'call',
  description: 'Posts { "text": … } to a chat: Slack, Mattermost, Rocket.Chat and others take this.',
  example: { url: 'https://hooks.slack.com/services/T0/B0/XX', text: '{{name}} scored {{score}}' },
  config: Type.Object(
    {
      url: Type.String({
        minLength: 1,
        maxLength: 2000,
        description: 'URL of the incoming webhook of a Slack-compatible chat',
      }),
      text: Type.String({ minLength: 1, maxLength: 10_000, description: 'Text of the message' }),
    },
    { additionalProperties: false },
  ),
  formats: { url: httpUrl },
} as const satisfies ActionDefinition
