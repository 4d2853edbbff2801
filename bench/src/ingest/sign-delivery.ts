import { randomUUID } from 'node:crypto'
import { signWebhook } from '@automation/webhooks'

/** The headers of a new webhook. Ids are random, as with most providers. */
export function signDelivery(key: Buffer, body: string): Record<string, string> {
  const id = randomUUID()
  const timestamp = `${Math.floor(Date.now() / 1_000)}`
  return {
    'x-idempotency-key': id,
    'x-timestamp': timestamp,
    'x-signature': signWebhook(key, { id, timestamp, body }),
  }
}
