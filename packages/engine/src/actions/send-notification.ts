import { Type } from 'typebox'
import { chatFormats, compileChatText, maxChatLength } from '../templates/chat-format.js'
import { findCredentialFault } from '../templates/credential-fault.js'
import { chatUrl } from '../templates/formats.js'
import { compileUrl } from '../templates/url-template.js'
import type { ActionDefinition } from './action-definition.js'

export const sendNotification = {
  type: 'SEND_NOTIFICATION',
  doneBy: 'call',
  description:
    'Posts a text to a chat. Use the markup of the chat; the values of placeholders are escaped. Slack, Mattermost, Rocket.Chat and others accept { "text": … }.',
  example: { url: 'https://hooks.slack.com/services/T0/B0/XX', text: '{{name}} scored {{score}}' },
  config: Type.Object(
    {
      url: Type.String({
        minLength: 1,
        maxLength: 2000,
        description: 'URL of the incoming webhook of a chat. It may be a credential: {{credentials.NAME}}',
      }),
      text: Type.String({
        minLength: 1,
        maxLength: maxChatLength,
        description:
          'Text of the message, in the markup of the chat. The values of placeholders are escaped, but not with the filter raw.',
      }),
      format: Type.Optional(
        Type.Enum([...chatFormats], {
          description:
            'Format of the chat: slack (and compatible chats), discord, teams (an Adaptive Card), or text for a receiver without markup. Default: slack',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  formats: { url: chatUrl },
  templates: { url: (text) => compileUrl(text, true), text: compileChatText },
  findFault: findCredentialFault,
} as const satisfies ActionDefinition
