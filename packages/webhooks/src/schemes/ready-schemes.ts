import type { Scheme, SchemeName } from './scheme.js'

/** The schemes that need no description by the person who sets them up. */
export const readySchemes: Readonly<Record<Exclude<SchemeName, 'generic'>, Scheme>> = {
  automation: {
    title: 'a sender of your own',
    signature: {
      headers: ['x-signature'],
      separator: ',',
      prefix: 'v1=',
      isPrefixOptional: true,
      encoding: 'hex',
    },
    secretIdHeader: 'x-signature-id',
    timestamp: { headers: ['x-timestamp'], isInSeconds: true },
    signed: '{id}.{timestamp}.{body}',
    hash: 'sha256',
    key: 'bytes',
    id: { headers: ['x-idempotency-key'], paths: [], isSigned: true, hasOneBody: true },
    type: { headers: [], paths: ['type'], dataFrom: 'data' },
    bodies: ['json'],
    headers: [],
    advice:
      'The key is the text after whsec_, base64-decoded; what is signed is <X-Idempotency-Key>.<X-Timestamp>.<body>, as it is sent; and X-Signature is v1= and the HMAC-SHA256 in hex',
  },
  standard_webhooks: {
    title: 'Standard Webhooks',
    signature: {
      headers: ['webhook-signature', 'svix-signature'],
      separator: ' ',
      prefix: 'v1,',
      encoding: 'base64',
    },
    timestamp: { headers: ['webhook-timestamp', 'svix-timestamp'] },
    signed: '{id}.{timestamp}.{body}',
    hash: 'sha256',
    key: 'whsec',
    id: { headers: ['webhook-id', 'svix-id'], paths: [], isSigned: true },
    type: { headers: [], paths: ['type', 'eventType', 'event_type'] },
    bodies: ['json'],
    headers: [],
    advice:
      'Each endpoint has a secret of its own; copy the secret of the endpoint whose URL is this one, with its whsec_',
  },
  stripe: {
    title: 'Stripe',
    signature: { headers: ['stripe-signature'], separator: ',', prefix: 'v1=', encoding: 'hex' },
    timestamp: { headers: ['stripe-signature'], prefix: 't=' },
    signed: '{timestamp}.{body}',
    hash: 'sha256',
    key: 'text',
    id: { headers: [], paths: ['id'], isSigned: true },
    type: { headers: [], paths: ['type'] },
    bodies: ['json'],
    headers: [],
    advice:
      'Each endpoint has a secret of its own, test and live mode have different ones, and so has `stripe listen`; copy the signing secret of the endpoint whose URL is this one',
  },
  github: {
    title: 'GitHub',
    signature: { headers: ['x-hub-signature-256'], separator: '', prefix: 'sha256=', encoding: 'hex' },
    signed: '{body}',
    hash: 'sha256',
    key: 'text',
    id: { headers: ['x-github-delivery'], paths: [], isSigned: false },
    type: { headers: ['x-github-event'], paths: [], action: 'action' },
    bodies: ['json', 'form:payload'],
    headers: ['x-github-event', 'x-github-delivery', 'x-github-hook-id'],
    advice:
      'Enter the same text as the secret of the webhook at GitHub and here; a webhook of GitHub without a secret is not signed',
  },
  shopify: {
    title: 'Shopify',
    signature: {
      headers: ['x-shopify-hmac-sha256', 'shopify-hmac-sha256'],
      separator: '',
      prefix: '',
      encoding: 'base64',
    },
    signed: '{body}',
    hash: 'sha256',
    key: 'text',
    id: { headers: ['x-shopify-webhook-id', 'shopify-webhook-id'], paths: [], isSigned: false },
    type: { headers: ['x-shopify-topic', 'shopify-topic'], paths: [] },
    bodies: ['json'],
    headers: ['topic', 'shop-domain', 'api-version', 'triggered-at'].flatMap((name) => [
      `x-shopify-${name}`,
      `shopify-${name}`,
    ]),
    advice:
      'Webhooks of an app are signed with its client secret, those of the admin with the secret that stands below the list of webhooks there',
  },
  slack: {
    title: 'Slack',
    signature: { headers: ['x-slack-signature'], separator: '', prefix: 'v0=', encoding: 'hex' },
    timestamp: { headers: ['x-slack-request-timestamp'] },
    signed: 'v0:{timestamp}:{body}',
    hash: 'sha256',
    key: 'text',
    id: { headers: [], paths: ['event_id'], isSigned: true },
    type: { headers: [], paths: ['event.type', 'type', 'command'] },
    bodies: ['json', 'form:payload', 'form'],
    headers: ['x-slack-retry-num', 'x-slack-retry-reason'],
    handshake: { path: 'type', is: 'url_verification', challenge: 'challenge', answer: 'text' },
    // Slack shows the body of a response to the person who entered a command.
    response: { status: 200, contentType: 'text/plain', body: '' },
    advice:
      'Slack signs with the Signing Secret of the app (Basic Information), not with its verification token, client secret or a token that begins with xox',
  },
  twilio: {
    title: 'Twilio',
    signature: { headers: ['x-twilio-signature'], separator: '', prefix: '', encoding: 'base64' },
    signed: '{url}{fields}',
    isPortOptional: true,
    bodyHashIn: 'bodySHA256',
    hash: 'sha1',
    key: 'text',
    // A message has one id in all its states, so the signed fields decide.
    id: { headers: [], paths: [], isSigned: true },
    type: { headers: [], paths: ['EventType', 'MessageStatus', 'CallStatus'] },
    bodies: ['form', 'json'],
    headers: [],
    // Anything but TwiML is an error in its console.
    response: { status: 200, contentType: 'text/xml', body: '<Response/>' },
    advice:
      'Twilio signs with the auth token of the account that owns the number, and the URL exactly as it is entered at Twilio; compare publicUrl with it: http or https, host, path, and a slash at its end',
  },
  zoom: {
    title: 'Zoom',
    signature: { headers: ['x-zm-signature'], separator: '', prefix: 'v0=', encoding: 'hex' },
    // It repeats a webhook after 5, 25 and 85 minutes, and does not say whether it signs another time then.
    timestamp: { headers: ['x-zm-request-timestamp'], maxAgeSeconds: 2 * 3600 },
    signed: 'v0:{timestamp}:{body}',
    hash: 'sha256',
    key: 'text',
    id: { headers: [], paths: [], isSigned: true },
    // The time of the event, in ms, is in its body.
    identifiedBy: 'body',
    type: { headers: [], paths: ['event'] },
    bodies: ['json'],
    headers: [],
    handshake: {
      path: 'event',
      is: 'endpoint.url_validation',
      challenge: 'payload.plainToken',
      answer: { challenge: 'plainToken', signature: 'encryptedToken' },
    },
    advice:
      'Zoom signs with the Secret Token of the app (Features, Access), not with its verification token or client secret',
  },
  meta: {
    title: 'Meta',
    // The header of GitHub, in the same notation.
    signature: { headers: ['x-hub-signature-256'], separator: '', prefix: 'sha256=', encoding: 'hex' },
    signed: '{body}',
    hash: 'sha256',
    key: 'text',
    id: { headers: [], paths: [], isSigned: false },
    type: { headers: [], paths: ['entry[0].changes[0].field', 'object'] },
    bodies: ['json'],
    headers: [],
    hasUrlChallenge: true,
    advice: 'Meta signs with the App Secret of the app (App settings, Basic), not with an access token',
  },
}
