/** What a sender signs. */
export interface WebhookParts {
  /** `whsec_…` */
  secret: string
  /** X-Idempotency-Key: the event's id, the same on every retry. */
  id: string
  /** X-Timestamp: Unix seconds, as written in the header. */
  timestamp: string
  /** Its bytes as they are sent. A text is encoded as UTF-8. */
  body: string | Uint8Array<ArrayBuffer>
}

/**
 * The value of X-Signature: `v1=` and the hex of HMAC-SHA256 over `<id>.<timestamp>.<body>` (docs/reference/signing.md). Browsers
 * can compute it on https and on localhost only.
 *
 * @throws TypeError for a text that is not a `whsec_` secret
 */
export async function signWebhook({ secret, id, timestamp, body }: WebhookParts): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', readSigningKey(secret), algorithm, false, ['sign'])
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const tail = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const content = new Uint8Array(head.length + tail.length)
  content.set(head)
  content.set(tail, head.length)
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, content))
  return `v1=${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function readSigningKey(secret: string): Uint8Array<ArrayBuffer> {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1]
  if (text === undefined || text.length % 4 !== 0) throw new TypeError('Not a whsec_ secret')
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
