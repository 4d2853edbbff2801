import { digest, type SignedParts } from './signature.js'

/**
 * The headers of a webhook as Standard Webhooks 1.0 has them: its receivers check them with a library they have already.
 * What is signed is the same as in `signWebhook`; it is written otherwise.
 *
 * @param keys several while a secret is being exchanged: a receiver looks for one that it knows
 */
export function signStandardWebhook(keys: readonly Buffer[], parts: SignedParts) {
  return {
    'webhook-id': parts.id,
    'webhook-timestamp': parts.timestamp,
    'webhook-signature': keys.map((key) => `v1,${digest(key, parts).toString('base64')}`).join(' '),
  }
}
