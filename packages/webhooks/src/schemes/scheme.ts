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
  /** The header may hold several signatures, with a separator between them; each begins with the prefix. */
  signature: { headers: readonly string[]; separator: string; prefix: string; encoding: 'hex' | 'base64' }
  /** Unix seconds. With a prefix, it stands among the signatures. */
  timestamp?: { headers: readonly string[]; prefix?: string }
  /** What is signed, with the names of its parts in braces: id, timestamp, body, url, and fields (of a form, sorted, each with its value). */
  signed: string
  /** Where the signature does not cover the body: the parameter of the URL with the SHA-256 of it. */
  bodyHashIn?: string
  hash: 'sha1' | 'sha256' | 'sha512'
  /** How the text of the secret is read as a key. */
  key: 'text' | 'base64' | 'hex' | 'whsec'
  /** The event's id at the provider. It prevents a second acceptance by itself only if it is signed. */
  id: { headers: readonly string[]; paths: readonly string[]; isSigned: boolean }
  /** The event's type at the provider. `action` is a path in the body whose text may follow the type, after a dot. */
  type: { headers: readonly string[]; paths: readonly string[]; action?: string }
  bodies: readonly BodyForm[]
  /** The headers that rules can read as `headers.<name>`. */
  headers: readonly string[]
  /** A body of this type asks only for its challenge. */
  handshake?: { path: string; is: string; challenge: string }
  /** For a provider that wants another response than ours. */
  response?: { status: number; contentType: string; body: string }
  /** What is usually wrong if nothing explains a signature: a sentence without its dot. */
  advice: string
}

/** `automation` is our own: signing.md describes it. */
export const SchemeName = Type.Enum(
  ['automation', 'standard_webhooks', 'stripe', 'github', 'shopify', 'slack', 'twilio', 'generic'],
  {
    title: 'SchemeName',
    description:
      'How a provider signs and writes its webhooks. automation (default): the way of this service (docs/reference/signing.md). standard_webhooks: also Svix. generic: as `settings` say.',
  },
)
export type SchemeName = Type.Static<typeof SchemeName>
