import type { Deviation } from './findings.js'
import type { RefusedDelivery } from './refused-delivery.js'

/** Who signs in a way of their own, by a header that they send. Meta sends the one of GitHub, too. */
const senders = {
  'stripe-signature': 'Stripe',
  'x-hub-signature-256': 'GitHub',
  'x-shopify-hmac-sha256': 'Shopify',
  'x-slack-signature': 'Slack',
  'x-twilio-signature': 'Twilio',
  'svix-id': 'Svix',
  'webhook-id': 'Standard Webhooks',
}

/** The sender whose header the delivery has: it cannot be set to sign as we read it. */
export function findForeignScheme({ headers }: Pick<RefusedDelivery, 'headers'>): Deviation[] {
  const found = Object.entries(senders).find(([header]) => headers[header] !== undefined)
  return found ? [{ code: 'foreign_scheme', about: `${found[1]} (${found[0]})` }] : []
}
