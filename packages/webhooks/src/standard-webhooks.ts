import { digest, type SignedParts } from './signature.js'

/**
 * The headers of a webhook by Standard Webhooks 1.0, so that receivers can verify them with an existing library. The signed
 * content is the same as in `signWebhook`; only the notation differs.
 *
 * @param keys several while a secret is being rotated: the receiver accepts any signature by a key that it knows
 */
export function signStandardWebhook(keys: readonly Buffer[], parts: SignedParts) {
  return {
    'webhook-id': parts.id,
    'webhook-timestamp': parts.timestamp,
    'webhook-signature': keys.map((key) => `v1,${digest(key, parts).toString('base64')}`).join(' '),
  }
}
