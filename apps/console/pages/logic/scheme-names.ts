import type { SchemeName } from '@automation/client'

/** How a provider signs, for people. */
export const schemes: Record<SchemeName, string> = {
  automation: 'a sender of your own',
  standard_webhooks: 'Standard Webhooks, Svix',
  stripe: 'Stripe',
  github: 'GitHub',
  shopify: 'Shopify',
  slack: 'Slack',
  twilio: 'Twilio',
  zoom: 'Zoom',
  meta: 'Meta (WhatsApp, Instagram, Facebook)',
  generic: 'another one',
}
