import { randomUUID } from 'node:crypto'
import { signWebhook } from '@automation/webhooks'

/** The headers of a webhook. New ids are random, as with most providers. */
export function signDelivery(key: Buffer, body: string, id: string = randomUUID()): Record<string, string> {
  const timestamp = `${Math.floor(Date.now() / 1_000)}`
  return {
    'x-idempotency-key': id,
    'x-timestamp': timestamp,
    'x-signature': signWebhook(key, { id, timestamp, body }),
  }
}

/** The id of a delivery that is repeated. */
export function knownId(number: number): string {
  return `known-${number}`
}
