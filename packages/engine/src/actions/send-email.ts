import { Type } from 'typebox'
import { emailAddress } from '../templates/formats.js'
import { compileAddress, maxAddresses, maxAddressLength, tidyAddresses } from '../templates/mail-addresses.js'
import type { ActionDefinition } from './action-definition.js'

const Address = Type.String({ minLength: 1, maxLength: maxAddressLength, description: 'One email address' })

const Addresses = (minItems: number) =>
  Type.Unsafe<string | string[]>({
    type: ['string', 'array'],
    minLength: 1,
    maxLength: maxAddressLength,
    minItems,
    maxItems: maxAddresses,
    items: { type: 'string', minLength: 1, maxLength: maxAddressLength },
    description: `One email address, or a list of at most ${maxAddresses}`,
  })

export const sendEmail = {
  type: 'SEND_EMAIL',
  doneBy: 'call',
  description:
    'Sends an email from a template of the workspace. A retry has the same Message-ID. Placeholders in the template are filled from variables, then from the event data. cc, bcc and replyTo that come to nothing are left out, with a warning.',
  example: {
    to: '{{email}}',
    subject: 'Welcome, {{name}}',
    template: 'welcome',
    variables: { offer: 'spring' },
  },
  config: Type.Object(
    {
      to: Addresses(1),
      subject: Type.String({ minLength: 1, maxLength: 500, description: 'Subject line' }),
      template: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the email template' }),
      cc: Type.Optional(Addresses(0)),
      bcc: Type.Optional(Addresses(0)),
      replyTo: Type.Optional(Address),
      variables: Type.Optional(
        Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          additionalProperties: true,
          description: 'Variables for the email template',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  formats: { to: emailAddress, cc: emailAddress, bcc: emailAddress, replyTo: emailAddress },
  templates: { to: compileAddress, cc: compileAddress, bcc: compileAddress, replyTo: compileAddress },
  lists: { to: tidyAddresses, cc: tidyAddresses, bcc: tidyAddresses },
  spare: ['cc', 'bcc', 'replyTo'],
} as const satisfies ActionDefinition
