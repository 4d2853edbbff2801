import { Type } from 'typebox'

const HeaderName = Type.String({
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
  patternError: 'be the name of a header, at most 100 characters',
})
const HeaderOrNone = (description: string) => Type.Optional({ ...HeaderName, description })
const PathText = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 500, description }))

/** What the person who sets a provider up may say about its scheme. The rest is in the rows. It has no defaults: a response would show them as stored. */
export const SchemeSettings = Type.Object(
  {
    types: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1, maxLength: 200 }),
        Type.String({
          pattern: '^[A-Z][A-Z0-9_]{1,63}$',
          patternError: 'be an event type, such as PAYMENT_FAILED',
        }),
        {
          maxProperties: 100,
          description:
            'Types of the provider, and the event type that each becomes: `{ "payment_intent.payment_failed": "PAYMENT_FAILED" }`. Such a webhook becomes a second event.',
        },
      ),
    ),
    dataFrom: PathText(
      'Path of the object in the payload that is the data of the second event. Without it: the payload',
    ),
    headers: Type.Optional(
      Type.Array(HeaderName, {
        maxItems: 20,
        description:
          'Further headers that rules can read as `headers.<name in lowercase>` of WEBHOOK_RECEIVED',
      }),
    ),
    repeatsFor: Type.Optional(
      Type.String({
        pattern: '^(?:0|[1-9]\\d{0,6}[smhdw])$',
        patternError: 'be a duration such as 1h, or 0',
        description:
          'How long a webhook with the same body is a repeat, where the provider signs neither its id nor a time: from 5m to 30d. Without it: 30d, and 5m for generic. 0 only where the id is signed.',
      }),
    ),
    verifyToken: Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{8,200}$',
        patternError: 'be 8 to 200 printable characters of ASCII without blanks',
        description:
          'meta: the verify token that is entered at Meta, for the challenge before the first webhook',
      }),
    ),
    publicUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s#]+$',
        patternError: 'be an http or https URL without spaces and #',
        maxLength: 2_000,
        description: 'twilio, and generic if {url} is signed: the URL as it is entered at the provider',
      }),
    ),
    signatureHeader: HeaderOrNone(
      'generic: the header with the signature. Its name contains sign, hmac or hash.',
    ),
    signaturePrefix: Type.Optional(
      Type.String({
        maxLength: 32,
        description: 'generic: what stands before each signature, such as `sha256=`',
      }),
    ),
    signatureSeparator: Type.Optional(
      Type.Enum([',', ';', ' '], { description: 'generic: what separates several parts of the header' }),
    ),
    signed: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'generic: what is signed, such as `{timestamp}.{body}`, with {id}, {timestamp}, {body}, {url} and {fields} (the sorted fields of a form). Without it: {body}',
      }),
    ),
    hash: Type.Optional(
      Type.Enum(['sha256', 'sha1', 'sha512'], { description: 'generic: of the HMAC. Without it: sha256' }),
    ),
    encoding: Type.Optional(
      Type.Enum(['hex', 'base64'], { description: 'generic: of the signature. Without it: hex' }),
    ),
    keyEncoding: Type.Optional(
      Type.Enum(['text', 'base64', 'hex', 'whsec'], {
        description: 'generic: how the text of the secret is read as a key. Without it: text',
      }),
    ),
    timestampHeader: HeaderOrNone(
      'generic: the header with the time, if it is signed: Unix time in seconds, ms, µs or ns, or RFC 3339',
    ),
    timestampPrefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        description: 'generic: what stands before the time, such as `t=`, if the header has several parts',
      }),
    ),
    idHeader: HeaderOrNone('generic: the header with the id of the event'),
    idPath: PathText('generic: the path of the id in the payload'),
    typeHeader: HeaderOrNone('generic: the header with the type of the event'),
    typePath: PathText('generic: the path of the type in the payload'),
    body: Type.Optional(
      Type.Enum(['json', 'form', 'form:payload'], {
        description: 'generic: form:payload is a form whose field payload holds JSON. Without it: json',
      }),
    ),
    response: Type.Optional(
      Type.Object(
        {
          status: Type.Integer({ minimum: 200, maximum: 299 }),
          body: Type.String({ maxLength: 1_000 }),
        },
        {
          additionalProperties: false,
          description: 'generic: the response to an accepted webhook, for a provider that wants its own',
        },
      ),
    ),
  },
  { additionalProperties: false, title: 'SchemeSettings' },
)
export type SchemeSettings = Type.Static<typeof SchemeSettings>
