import { createHmac, randomBytes } from 'node:crypto'

/** What a sender signs. `body` is the exact bytes that are sent; a string is encoded as UTF-8. */
export interface SignedParts {
  /** X-Idempotency-Key: the event's id, the same on every retry. */
  id: string
  /** X-Timestamp: Unix seconds, as written in the header. */
  timestamp: string
  body: Buffer | string
}

/** The maximum difference (seconds) between a timestamp and the receiver's clock, in either direction. */
export const toleranceSeconds = 300

const secretPrefix = 'whsec_'
const secretBytes = 32

/** A new signing secret in the notation for its owner: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString('base64')
}

/**
 * The key of a secret: the part after the prefix, base64-decoded, as in Standard Webhooks.
 *
 * @throws TypeError if the text is not a `whsec_` secret
 */
export function readSigningKey(secret: string): Buffer {
  const text = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : ''
  const key = Buffer.from(text, 'base64')
  if (key.length === 0 || key.toString('base64') !== text) throw new TypeError('Not a whsec_ secret')
  return key
}

/** The value of X-Signature: `v1=<hex>`. */
export function signWebhook(key: Buffer, parts: SignedParts): string {
  return `v1=${digest(key, parts).toString('hex')}`
}

/** HMAC-SHA256 over `<id>.<timestamp>.<body>`. */
export function digest(key: Buffer, { id, timestamp, body }: SignedParts): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
}
