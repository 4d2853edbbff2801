import { credentialName, type Fault } from '@automation/engine'
import { Type } from 'typebox'
import { DateTime, orNull } from '../credential.js'

export function isCredentialName(text: string): boolean {
  return new RegExp(credentialName).test(text)
}

export const CredentialName = Type.String({
  pattern: credentialName,
  patternError: 'begin with a letter, and have at most 64 letters, digits, _ and -',
  description:
    'Rules name it as {{credentials.NAME}}: a letter, then letters, digits, dashes and underscores',
})

export const CredentialKind = Type.Enum(['text', 'basic', 'oauth2'], {
  title: 'CredentialKind',
  description:
    'text: a token or another text. basic: a user name and a password, sent as `Basic …`. oauth2: client credentials, with which the service gets an access token, sent as `Bearer …`. basic and oauth2 are the whole value of a header.',
})
export type CredentialKind = Type.Static<typeof CredentialKind>

const maxHosts = 20

/** A credential without its values, which no response contains. */
export const Credential = Type.Object(
  {
    name: CredentialName,
    kind: CredentialKind,
    hosts: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      minItems: 1,
      maxItems: maxHosts,
      uniqueItems: true,
      description: 'The only hosts that it is sent to, such as api.example.com',
    }),
    createdAt: DateTime,
    updatedAt: Type.String({ format: 'date-time', description: 'Time at which its values were set' }),
    lastUsedAt: orNull(
      Type.String({ format: 'date-time', description: 'Time of the last use, accurate to one minute' }),
    ),
  },
  { title: 'Credential' },
)
export type Credential = Type.Static<typeof Credential>

const secret = (description: string, minLength = 1) =>
  Type.Optional(Type.String({ minLength, maxLength: 4_096, description }))

export const CredentialToPut = Type.Object(
  {
    kind: Type.Optional(CredentialKind),
    hosts: Credential.properties.hosts,
    // Of a shorter one, each response that has the same letters by chance would be changed.
    value: secret('Of kind text', 4),
    username: secret('Of kind basic'),
    password: Type.Optional(Type.String({ maxLength: 4_096, description: 'Of kind basic. Default: empty' })),
    tokenUrl: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'Of kind oauth2: the https URL of the token endpoint' }),
    ),
    clientId: secret('Of kind oauth2'),
    clientSecret: secret('Of kind oauth2', 4),
    clientAuthentication: Type.Optional(
      Type.Enum(['header', 'body'], {
        description:
          'Of kind oauth2: where the token endpoint reads the client, in an Authorization header or in the body. Default: header',
      }),
    ),
    scope: secret('Of kind oauth2'),
    audience: secret('Of kind oauth2'),
  },
  {
    title: 'CredentialToPut',
    additionalProperties: false,
    examples: [{ value: 'the token', hosts: ['api.example.com'] }],
  },
)
export type CredentialToPut = Type.Static<typeof CredentialToPut>

const { kind: _, ...changeable } = CredentialToPut.properties
const removable = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 4_096,
    description: 'Of kind oauth2',
  }),
)

/** Part of a credential: what is absent stays, and null removes what is optional. */
export const CredentialToPatch = Type.Object(
  {
    ...changeable,
    hosts: Type.Optional(Credential.properties.hosts),
    scope: removable,
    audience: removable,
  },
  {
    title: 'CredentialToPatch',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ clientSecret: 'the next secret' }],
  },
)
export type CredentialToPatch = Type.Static<typeof CredentialToPatch>

/** The fields of each kind, and whether it needs them. */
const fieldsOf = {
  text: { value: true },
  basic: { username: true, password: false },
  oauth2: {
    tokenUrl: true,
    clientId: true,
    clientSecret: true,
    clientAuthentication: false,
    scope: false,
    audience: false,
  },
} as const satisfies Record<CredentialKind, Record<string, boolean>>

const valueFields = Object.values(fieldsOf).flatMap((fields) => Object.keys(fields))

/** Finds the faults that the schema does not: takes a body of any shape. No message has a value. */
export function findCredentialFaults(body: Record<string, unknown>): Fault[] {
  const { kind = 'text', hosts } = body
  if (!isKind(kind)) return []
  const own: Record<string, boolean> = fieldsOf[kind]
  const faults = valueFields.flatMap((field): Fault[] => {
    const value = body[field]
    if (value === undefined)
      return own[field] ? [{ field, message: `Must be set for a credential of kind ${kind}` }] : []
    if (own[field] === undefined)
      return [{ field, message: `Must not be set for a credential of kind ${kind}` }]
    return typeof value === 'string' ? findTextFaults(field, value) : []
  })
  if (kind === 'basic' && typeof body.username === 'string' && body.username.includes(':'))
    faults.push({ field: 'username', message: 'Must not have a colon' })
  return [...faults, ...findHostFaults(hosts)]
}

/** Format characters, such as the byte order mark with which editors of Windows begin a file: nobody sees them, and no header may have them. */
const invisible = /\p{Cf}/u

/** Chosen by people and sent in base64, where every character but a control character is legal: joiners belong to words of Persian and Hindi. */
const ofPeople = new Set(['username', 'password'])

/** Without the invisible characters at its ends, which nobody means. */
export function trimInvisible(text: string): string {
  return text.replace(/^\p{Cf}+|\p{Cf}+$/gu, '')
}

function findTextFaults(field: string, given: string): Fault[] {
  const value = trimInvisible(given)
  const { minLength: least = 0 } = CredentialToPut.properties[field as keyof CredentialToPut] as {
    minLength?: number
  }
  // What is too short as it is given has a fault of its shape.
  if (value.length < least && given.length >= least)
    return [{ field, message: `Must have at least ${least} characters that can be seen` }]
  if (!ofPeople.has(field) && invisible.test(value))
    return [{ field, message: 'Must not have invisible characters' }]
  if (/\p{Cc}/u.test(value) || !value.isWellFormed())
    return [{ field, message: 'Must not have line breaks or other control characters' }]
  if (field === 'tokenUrl' && value !== '' && !isTokenUrl(value))
    return [{ field, message: 'Must be an http or https URL without a user name, a password and a fragment' }]
  return []
}

function isTokenUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password, hash } = new URL(text)
  return username === '' && password === '' && hash === ''
}

function findHostFaults(hosts: unknown): Fault[] {
  if (!Array.isArray(hosts)) return []
  return hosts.flatMap((host, index) =>
    typeof host === 'string' && readHost(host) === undefined
      ? [{ field: `hosts[${index}]`, message: 'Must be a host such as api.example.com, without a port' }]
      : [],
  )
}

/** A host as URLs have it: in lower case, in ASCII, without the dot that may end it. Undefined for anything else. */
export function readHost(text: string): string | undefined {
  if (/[\s/\\?#@%*]|:\d*$/.test(text.replace(/^\[[^\]]*\]$/, '')) || !URL.canParse(`https://${text}`))
    return undefined
  return new URL(`https://${text}`).hostname.replace(/\.$/, '')
}

function isKind(kind: unknown): kind is CredentialKind {
  return typeof kind === 'string' && Object.hasOwn(fieldsOf, kind)
}
