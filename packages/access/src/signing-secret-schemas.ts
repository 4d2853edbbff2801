import { Type } from 'typebox'
import { credentialTimes, orNull, Timestamp } from './credential.js'

const pattern = '^[a-z0-9][a-z0-9._-]{0,63}$'

export const Provider = Type.String({
  pattern,
  description:
    'the name that stands in the path of its webhooks: small letters, digits, dots, dashes, underscores',
})

const Party = Type.String({
  pattern,
  description:
    'the provider; of an outgoing one the host that SEND_WEBHOOK calls, or the id of a subscription: small letters, digits, dots, dashes, underscores',
})

export const SecretDirection = Type.Enum(['incoming', 'outgoing'], {
  description: 'incoming: a provider signs what it sends us. outgoing: we sign what we send',
})
export type SecretDirection = Type.Static<typeof SecretDirection>

export const SigningSecretState = Type.Enum(['active', 'retiring', 'retired', 'revoked'], {
  description: 'active and retiring ones sign',
})
export const SigningSecret = Type.Object({
  id: Type.String({ format: 'uuid', description: 'X-Signature-Id of what comes in' }),
  direction: SecretDirection,
  provider: Party,
  state: SigningSecretState,
  ...credentialTimes,
  retiresAt: orNull(Timestamp),
})
export type SigningSecret = Type.Static<typeof SigningSecret>

/** The only answer that ever shows the secret itself. */
export const NewSigningSecret = Type.Object({
  ...SigningSecret.properties,
  secret: Type.String({ description: '`whsec_…`, shown this once; it is kept encrypted' }),
})
export type NewSigningSecret = Type.Static<typeof NewSigningSecret>

export const SigningSecretToCreate = Type.Object(
  {
    provider: Party,
    direction: Type.Optional(SecretDirection),
  },
  { additionalProperties: false },
)
