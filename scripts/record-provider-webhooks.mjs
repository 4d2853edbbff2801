// Records webhooks that the libraries of providers have signed, or accept, for packages/webhooks/test/schemes.test.ts. It installs the libraries
// into a temporary directory: the product does not depend on them.
//   node scripts/record-provider-webhooks.mjs
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const versions = {
  stripe: '23.1.0',
  '@octokit/webhooks': '14.2.0',
  standardwebhooks: '1.1.1',
  svix: '2.5.0',
  '@slack/bolt': '5.1.0',
  '@shopify/shopify-api': '15.0.0',
  twilio: '6.3.1',
}

const directory = mkdtempSync(join(tmpdir(), 'provider-libraries-'))
writeFileSync(join(directory, 'package.json'), '{"private":true}')
const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
  cwd: directory,
  stdio: 'inherit',
})
const load = createRequire(join(directory, 'package.json'))
const loadModule = (name) => import(load.resolve(name))

const seconds = Math.floor(Date.now() / 1000)
const at = new Date(seconds * 1000)
// Letters beyond ASCII, an escaped slash, spaces and an emoji: what a second serialiser would write otherwise.
const text =
  '{ "id": "evt_1", "type": "payment_intent.payment_failed",  "data": {"object": {"name": "Zoë \\/ 🦊", "amount": 1200.50}} }'
const webhooks = []

const { default: Stripe } = await loadModule('stripe')
{
  const secret = 'whsec_5wRk0bU2uR7uFqJm1n3q8v4y6z9cAeGh'
  const stripe = new Stripe('sk_test_none')
  const header = stripe.webhooks.generateTestHeaderString({ payload: text, secret, timestamp: seconds })
  stripe.webhooks.constructEvent(text, header, secret)
  record('stripe', 'stripe', { secret, headers: { 'stripe-signature': header } })
}

const { Webhooks } = await loadModule('@octokit/webhooks')
{
  const secret = 'It is a secret to everybody'.replaceAll(' ', '-')
  const webhooks = new Webhooks({ secret })
  const github = { 'x-github-event': 'issues', 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' }
  const issue = '{"action":"opened","issue":{"number":1347,"title":"Füße 🦶"}}'
  const form = `payload=${encodeURIComponent(issue).replaceAll('%20', '+')}`
  for (const [body, extra] of [
    [issue, {}],
    [form, { isForm: true }],
  ]) {
    const signature = await webhooks.sign(body)
    if (!(await webhooks.verify(body, signature))) throw new Error('GitHub')
    record('@octokit/webhooks', 'github', {
      secret,
      body,
      headers: { ...github, 'x-hub-signature-256': signature },
      ...extra,
    })
  }
}

for (const name of ['standardwebhooks', 'svix']) {
  const { Webhook } = await loadModule(name)
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const prefix = name === 'svix' ? 'svix' : 'webhook'
  const webhook = new Webhook(secret)
  const headers = {
    [`${prefix}-id`]: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    [`${prefix}-timestamp`]: String(seconds),
    [`${prefix}-signature`]: `v1,${'A'.repeat(43)}= ${webhook.sign('msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', at, text)}`,
  }
  webhook.verify(text, headers)
  record(name, 'standard_webhooks', { secret, headers })
}

// The library of Slack verifies only, and so does that of Shopify.
const { isValidSlackRequest } = load(
  join(directory, 'node_modules/@slack/bolt/dist/receivers/verify-request.js'),
)
for (const [body, isForm] of [
  [
    '{"token":"t","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}',
    false,
  ],
  [
    '{"event_id":"Ev08MFMKH6","type":"event_callback","event":{"type":"message","text":"Grüße & <!here>"}}',
    false,
  ],
  ['command=%2Fticket&text=caf%C3%A9+%26+more&user_name=ada&trigger_id=13345224609.738474920', true],
  ['payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%2212466734323.1395872398%22%7D', true],
]) {
  const secret = '8f742231b10e8888abcd99yyyzzz85a5'
  const hex = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex')
  const headers = { 'x-slack-signature': `v0=${hex}`, 'x-slack-request-timestamp': String(seconds) }
  const isValid = isValidSlackRequest({ signingSecret: secret, body, headers })
  if (!isValid) throw new Error('Slack')
  record('@slack/bolt', 'slack', { secret, body, headers, isForm })
}

await loadModule('@shopify/shopify-api/adapters/node')
const { shopifyApi } = load('@shopify/shopify-api')
load('@shopify/shopify-api/adapters/node')
{
  const secret = 'hush-hush-0123456789abcdef'
  const shopify = shopifyApi({
    apiKey: 'key',
    apiSecretKey: secret,
    scopes: ['read_orders'],
    hostName: 'example.com',
    apiVersion: '2026-10',
    isEmbeddedApp: false,
    logger: { level: 0 },
  })
  const body = '{"id":820982911946154508,"email":"jon@example.com","note":"Größe \\/ 🦊"}'
  const headers = {
    'x-shopify-topic': 'orders/create',
    'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
    'x-shopify-shop-domain': 'ada.myshopify.com',
    'x-shopify-api-version': '2026-10',
    'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  }
  const request = { method: 'POST', url: '/', headers: { ...headers, 'content-type': 'application/json' } }
  const result = await shopify.webhooks.validate({ rawBody: body, rawRequest: request, rawResponse: {} })
  if (!result.valid) throw new Error(`Shopify: ${JSON.stringify(result)}`)
  record('@shopify/shopify-api', 'shopify', { secret, body, headers })
}

const twilio = load('twilio')
{
  const secret = '12345678901234567890123456789012'
  const publicUrl =
    'https://rules.example.com/api/incoming-webhooks/twilio/0197a000-0000-7000-8000-00000000000a'
  const body =
    'MessageSid=SM1f0e8ae6ade43cb3c0ce4525424e404f&MessageStatus=delivered&To=%2B15558675310&Body=caf%C3%A9+%26+more&Tag=b&Tag=a&Tag=b'
  const params = { ...Object.fromEntries(new URLSearchParams(body)), Tag: ['b', 'a', 'b'] }
  const header = twilio.getExpectedTwilioSignature(secret, publicUrl, params)
  if (!twilio.validateRequest(secret, header, publicUrl, params)) throw new Error('Twilio')
  record('twilio', 'twilio', {
    secret,
    body,
    headers: { 'x-twilio-signature': header },
    isForm: true,
    settings: { publicUrl },
  })
  const query = `bodySHA256=${twilio.getExpectedBodyHash(text)}`
  const ofJson = twilio.getExpectedTwilioSignature(secret, `${publicUrl}?${query}`, {})
  if (!twilio.validateRequestWithBody(secret, ofJson, `${publicUrl}?${query}`, text))
    throw new Error('Twilio')
  record('twilio', 'twilio', {
    secret,
    headers: { 'x-twilio-signature': ofJson },
    query,
    settings: { publicUrl },
  })
}

const file = new URL('../packages/webhooks/test/fixtures/provider-webhooks.json', import.meta.url)
writeFileSync(file, `${JSON.stringify({ seconds, webhooks }, null, 2)}\n`)

function record(library, scheme, { body = text, isForm = false, query = '', settings = {}, ...webhook }) {
  webhooks.push({
    library: `${library}@${versions[library]}`,
    scheme,
    settings,
    isForm,
    query,
    body,
    ...webhook,
  })
}
