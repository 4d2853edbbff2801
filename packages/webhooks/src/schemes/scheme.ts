import { Type } from 'typebox'

/** How the form of a provider is read: its fields, or the JSON in its field `payload`. */
export type BodyForm = 'json' | 'form' | 'form:payload'

/**
 * How a provider signs and writes its webhooks: a row of data that one verifier reads. Names of headers are in lowercase, paths are those of
 * conditions. Of several headers or paths, the first that is there counts.
 */
export interface Scheme {
  /** The name of the provider, for people. */
  title: string
  /** The header may hold several signatures, with a separator between them; each begins with the prefix, or may begin with it, in any case. */
  signature: {
    headers: readonly string[]
    separator: string
    prefix: string
    isPrefixOptional?: boolean
    encoding: 'hex' | 'base64'
  }
  /** The header with the id of the secret that signs. Without one, all secrets of the provider are tried. */
  secretIdHeader?: string
  /**
   * Any time that readSignedTime reads, or Unix seconds whatever their size. With a prefix, it stands among the signatures. It may be so many seconds
   * old, if that is more than any scheme allows.
   */
  timestamp?: { headers: readonly string[]; prefix?: string; isInSeconds?: boolean; maxAgeSeconds?: number }
  /** Whether the provider leaves out the port of the URL, or writes the usual one, as it likes. */
  isPortOptional?: boolean
  /** What is signed, with the names of its parts in braces: id, timestamp, body, url, and fields (of a form, sorted, each with its value). */
  signed: string
  /** Where the signature does not cover the body: the parameter of the URL with the SHA-256 of it. */
  bodyHashIn?: string
  hash: 'sha1' | 'sha256' | 'sha512'
  /** How the text of the secret is read as a key. bytes: the key itself is stored. */
  key: 'text' | 'base64' | 'hex' | 'whsec' | 'bytes'
  /** Where the body alone is the same whenever the provider repeats a webhook, and never that of another one. Otherwise all that is signed counts. */
  identifiedBy?: 'body'
  /**
   * The event's id at the provider. It prevents a second acceptance by itself only if it is signed. Another body under it is refused where the sender
   * promises that there is none, and otherwise noted.
   */
  id: { headers: readonly string[]; paths: readonly string[]; isSigned: boolean; hasOneBody?: boolean }
  /**
   * The event's type at the provider. `action` is a path in the body whose text may follow the type, after a dot. With `dataFrom`, the type is itself
   * the name of one of our event types, also written as lead.created, and the data is at that path.
   */
  type: { headers: readonly string[]; paths: readonly string[]; action?: string; dataFrom?: string }
  bodies: readonly BodyForm[]
  /** The headers that rules can read as `headers.<name>`. */
  headers: readonly string[]
  handshake?: Handshake
  /** Whether a GET with the token of the settings gets its challenge back. */
  hasUrlChallenge?: boolean
  /** For a provider that wants another response than ours. */
  response?: { status: number; contentType: string; body: string }
  /** What is usually wrong if nothing explains a signature: a sentence without its dot. */
  advice: string
}

/**
 * A body of this type asks only for its challenge: the text at that path comes back as it is, or as JSON with its HMAC-SHA256 in hex, under these names.
 */
export interface Handshake {
  path: string
  is: string
  challenge: string
  answer: 'text' | { challenge: string; signature: string }
}

/** `automation` is our own: signing.md describes it. */
export const SchemeName = Type.Enum(
  [
    'automation',
    'standard_webhooks',
    'stripe',
    'github',
    'shopify',
    'slack',
    'twilio',
    'zoom',
    'meta',
    'generic',
  ],
  {
    title: 'SchemeName',
    description:
      'How a provider signs and writes its webhooks. automation (default): the way of this service (docs/reference/signing.md). standard_webhooks: also Svix. meta: Facebook, Instagram, WhatsApp. generic: as `settings` say.',
  },
)
export type SchemeName = Type.Static<typeof SchemeName>
