import { SchemeName, SchemeSettings } from '@automation/webhooks'
import { Type } from 'typebox'
import { credentialTimes, DateTime, orNull, textOnce } from './credential.js'

const providerPattern = '^[a-z0-9][a-z0-9._-]{0,63}$'

export const Provider = Type.String({
  pattern: providerPattern,
  patternError:
    'begin with a lowercase letter or a digit, and have at most 64 lowercase letters, digits, dots, dashes and underscores',
  description:
    'Name of the provider in the path of its webhooks: lowercase letters, digits, dots, dashes and underscores',
})

/** The API calls it `provider`; outgoing secrets came later. */
export const Counterparty = Type.String({
  pattern: '^([a-z0-9][a-z0-9._-]{0,252}|\\[[0-9a-f:.]{2,45}\\])$',
  patternError:
    'be a name of lowercase letters, digits, dots, dashes and underscores, or an IPv6 address in brackets',
  description:
    'a name of lowercase letters, digits, dots, dashes and underscores: of the provider (incoming, at most 64 characters), of the host that SEND_WEBHOOK calls (outgoing; an IPv6 address in brackets), or the id of a subscription (outgoing)',
})

export function isProvider(counterparty: string): boolean {
  return new RegExp(providerPattern).test(counterparty)
}

export const SecretDirection = Type.Enum(['incoming', 'outgoing'], {
  title: 'SecretDirection',
  description:
    'incoming: a provider signs the webhooks that it sends. outgoing: the service signs the webhooks that it sends.',
})
export type SecretDirection = Type.Static<typeof SecretDirection>

export const SigningSecretState = Type.Enum(['active', 'retiring', 'retired', 'revoked'], {
  description: 'Signatures of active and retiring secrets are valid.',
})
export const SigningSecret = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'X-Signature-Id of incoming webhooks' }),
    direction: SecretDirection,
    provider: Counterparty,
    scheme: SchemeName,
    settings: orNull(SchemeSettings),
    state: SigningSecretState,
    ...credentialTimes,
    retiresAt: orNull(DateTime),
  },
  { title: 'SigningSecret' },
)
export type SigningSecret = Type.Static<typeof SigningSecret>

/** The only response that contains the secret. */
export const NewSigningSecret = Type.Object(
  {
    ...SigningSecret.properties,
    ...textOnce(
      'secret',
      '`whsec_…`, or the text that the request brought. The service stores it encrypted.',
    ),
  },
  { title: 'NewSigningSecret' },
)
export type NewSigningSecret = SigningSecret & { secret: string }

/** The notation of a scheme is checked apart. */
const SecretText = Type.String({
  // Without look-ahead, which the patterns of Go and Rust do not have.
  pattern: '^[^\\s\\x00-\\x1f\\x7f][^\\x00-\\x1f\\x7f]{6,510}[^\\s\\x00-\\x1f\\x7f]$',
  patternError: 'have 8 to 512 characters, none of them a control character, and no space at its ends',
  description:
    'incoming: the secret that the provider has made, or the text of your choice that it has: 8 to 512 characters. Without it the service makes one',
})

export const SigningSecretToCreate = Type.Object(
  {
    provider: Counterparty,
    direction: Type.Optional(SecretDirection),
    scheme: Type.Optional(SchemeName),
    settings: Type.Optional(SchemeSettings),
    secret: Type.Optional(SecretText),
  },
  { additionalProperties: false, title: 'SigningSecretToCreate' },
)

/** What may change of an incoming secret. Its id stays. */
export const SigningSecretToPut = Type.Object(
  { settings: Type.Optional(SchemeSettings), secret: Type.Optional(SecretText) },
  { additionalProperties: false, minProperties: 1, title: 'SigningSecretToPut' },
)
