import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { diagnose, diagnoseHeaders } from '../src/diagnose.js'
import { findingCodes } from '../src/findings.js'
import type { KnownSecret } from '../src/refused-delivery.js'
import { signWebhook } from '../src/signature.js'
import {
  base64,
  codesOf,
  content,
  digest,
  hash,
  hex,
  id,
  otherSecret,
  right,
  secret,
  sent,
  sentAs,
  text,
  timestamp,
} from './fixtures/sender.js'

t.test('a right signature is reported as right, whatever the reason of the refusal', async (t) => {
  t.same(codesOf(sentAs(`v1=${hex}`)), ['signature_matches'])
  t.same(codesOf(sentAs(hex.toUpperCase())), ['signature_matches'])
  t.same(codesOf(sentAs(signWebhook(secret.key, right)), [otherSecret(), secret]), ['signature_matches'])
  t.same(codesOf(sentAs(`t=${timestamp},v1=${hex}`)), ['signature_matches'], 'as Stripe writes it')
  t.same(codesOf(sent(digest), [{ ...secret, state: 'retiring' }]), ['signature_matches'])
})

t.test('a header in milliseconds is reported, whatever was signed', async (t) => {
  const milliseconds = { timestamp: `${timestamp}437` }
  t.same(codesOf(sent(hash(`${id}.${timestamp}437.${text}`), milliseconds)), ['timestamp_milliseconds'])
  t.same(codesOf(sent(hash(content), milliseconds)), ['timestamp_milliseconds'])
  t.same(codesOf(sent(randomBytes(32), milliseconds)), ['timestamp_milliseconds', 'no_match'])
  const date = { timestamp: '2026-09-10T00:26:40Z' }
  t.same(codesOf(sent(hash(`${id}.${date.timestamp}.${text}`), date)), ['timestamp_malformed'])
})

t.test('the signing secret is found among all secrets of the workspace', async (t) => {
  const other = otherSecret()
  const ofOther = sent(hash(content, other.key))
  const [finding, ...more] = diagnose(ofOther, [secret, other])
  t.match(finding, { code: 'other_secret', secretId: other.id, message: other.id })
  t.strictSame(more, [])

  const foreign = otherSecret({ provider: 'bank' })
  const findings = diagnose(sent(hash(content, foreign.key)), [secret, foreign])
  t.match(findings, [
    { code: 'other_secret', secretId: foreign.id },
    { code: 'other_provider', secretId: foreign.id, message: 'provider bank;' },
  ])
  t.equal(findings.length, 2)
  t.same(codesOf(sent(digest, { provider: 'bank' })), ['other_provider'], 'the named one, at the wrong path')

  const twin = otherSecret({ key: secret.key })
  t.same(codesOf(sent(digest), [twin, secret]), ['signature_matches'], 'the named one goes first')
})

t.test('a retired or revoked secret is reported, whether it signed or is only named', async (t) => {
  for (const state of ['retired', 'revoked'] as const) {
    const gone = { ...secret, state }
    const [finding, ...more] = diagnose(sent(digest), [gone])
    t.match(finding, { code: `secret_${state}`, secretId: secret.id })
    t.strictSame(more, [])
    t.same(codesOf(sent(randomBytes(32)), [gone]), [`secret_${state}`, 'no_match'])
    const other = otherSecret({ state })
    t.same(codesOf(sent(hash(content, other.key)), [secret, other]), ['other_secret', `secret_${state}`])
  }
})

t.test('an unknown secret id is reported, and so is the secret that signed', async (t) => {
  const unknown = { signatureId: '0197a000-0000-7000-8000-0000000000ff' }
  t.same(codesOf(sent(digest, unknown)), ['unknown_signature_id', 'other_secret'])
  t.same(codesOf(sent(digest, unknown), []), ['unknown_signature_id', 'no_match'])
  t.same(codesOf(sent(digest, { signatureId: secret.id.toUpperCase() })), ['signature_matches'])
})

t.test('a missing header is reported', async (t) => {
  const nothing = { id: '', timestamp: '', signature: '', signatureId: '' }
  const findings = diagnose(sent(digest, nothing), [secret])
  t.same(
    findings.map(({ code }) => code),
    Array(4).fill('header_missing'),
  )
  t.match(findings[0]?.message, 'X-Idempotency-Key')
  t.same(codesOf(sent(digest, { signatureId: '' })), ['header_missing', 'other_secret'])
})

t.test('a provider that signs in its own way is named', async (t) => {
  const none = { id: '', timestamp: '', signature: '', signatureId: '' }
  const cases: Record<string, string> = {
    'stripe-signature': 'Stripe',
    'x-hub-signature-256': 'GitHub',
    'svix-signature': 'Standard Webhooks',
    'webhook-signature': 'Standard Webhooks',
    'x-shopify-hmac-sha256': 'Shopify',
    'x-slack-signature': 'Slack',
    'x-twilio-signature': 'Twilio',
  }
  for (const [header, name] of Object.entries(cases)) {
    const headers = { 'content-type': 'application/json', [header]: 'evil-word' }
    const [finding, ...others] = diagnose(sent(digest, { ...none, headers }), [secret])
    t.match(finding, { code: 'foreign_scheme', message: `in the format of ${name} (${header}), which` })
    t.same(others, [], 'and no list of our headers')
    t.notMatch(finding?.message, 'evil-word')
    t.same(diagnoseHeaders(sent(digest, { headers })), [finding], 'also if the body was not read')
    t.same(codesOf(sent(randomBytes(32), { headers })), ['foreign_scheme', 'no_match'])
    t.same(codesOf(sent(hash(text), { headers })), ['foreign_scheme', 'signed_body_alone'])
    t.same(codesOf(sent(digest, { headers })), ['signature_matches'], 'a relay passes the header on')
    t.same(codesOf(sent(digest, { headers, timestamp: '' }))[1], 'header_missing', 'what a relay forgets')
  }
  const both = { 'x-slack-signature': 'x', 'stripe-signature': '' }
  t.match(diagnose(sent(digest, { ...none, headers: both }), [secret])[0]?.message, 'Stripe')
  t.same(diagnoseHeaders(sent(digest, { headers: {} })), [])
})

t.test('a signature without a match is still checked for its notation', async (t) => {
  const noise = randomBytes(32)
  const cases: [string, string[]][] = [
    [noise.toString('hex'), ['no_match']],
    [`sha256=${noise.toString('hex')}`, ['signature_prefix', 'no_match']],
    [noise.toString('base64'), ['signature_base64', 'no_match']],
    [`v1,${noise.toString('base64')}`, ['signature_standard_webhooks', 'no_match']],
    [noise.toString('hex').slice(0, 50), ['signature_truncated', 'no_match']],
    [randomBytes(20).toString('hex'), ['signature_sha1', 'no_match']],
    ['garbage', ['not_a_signature']],
    ['v1=', ['not_a_signature']],
    [hex.slice(0, 31), ['not_a_signature']],
    ['this-is-a-text-and-not-a-signature-at-all', ['not_a_signature']],
    [secret.id, ['not_a_signature']],
  ]
  for (const [signature, codes] of cases) t.same(codesOf(sentAs(signature)), codes, signature)
})

t.test('no finding contains a key, a right signature, or any part of the delivery', async (t) => {
  const other = otherSecret({ state: 'revoked' })
  const digests = [digest, hash(content, base64), hash(text), hash(content, other.key)]
  const signatures = digests.flatMap((it) => [
    `sha256=${it.toString('base64')}`,
    it.toString('hex').slice(0, 40),
    it.toString('hex'),
  ])
  const keys = [secret.key, other.key]
  const forbidden = [...digests, ...keys]
    .flatMap((it) => [it.toString('hex'), it.toString('base64'), it.toString('base64url')])
    .map((it) => it.slice(0, 16))
  const evil = 'evil-word'
  const strange = { signatureId: evil, timestamp: evil, id: evil, provider: evil }
  for (const signature of [...signatures, randomBytes(32).toString('hex'), evil]) {
    for (const fields of [{}, strange]) {
      const findings = JSON.stringify(diagnose(sent(digest, { signature, ...fields }), [secret, other]))
      const held = [...forbidden, evil, 'Ada'].filter((word) => findings.includes(word))
      t.same(held, [], findings)
    }
  }
})

t.test('for any input, the findings have known codes and whole sentences', async (t) => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constantFrom('v1,', secret.id, '%s $& $1', '-1', '1e400', `${'9'.repeat(400)}`, '='.repeat(3000)),
    fc.uint8Array({ minLength: 15, maxLength: 70 }).map((it) => Buffer.from(it).toString('base64')),
    fc.uint8Array({ minLength: 15, maxLength: 70 }).map((it) => `v1=${Buffer.from(it).toString('hex')}`),
  )
  const anyBody = fc.oneof(
    fc.uint8Array().map((it) => Buffer.from(it)),
    fc.json().map((it) => Buffer.from(it)),
    fc
      .constantFrom('', '[', '\uFEFF{}', '"\\ud800"', '{"__proto__":1,"a":1,"a":2}', '-0', ' 1 ')
      .map((it) => Buffer.from(it)),
    fc.constant(Buffer.from('['.repeat(100_000) + ']'.repeat(100_000))),
  )
  const anySecret = fc.record({
    id: anyText,
    provider: anyText,
    key: fc.uint8Array().map((it) => Buffer.from(it)),
    state: fc.constantFrom<KnownSecret['state']>('active', 'retiring', 'retired', 'revoked'),
  })
  const anyDelivery = fc.record({
    provider: anyText,
    id: anyText,
    timestamp: anyText,
    signature: anyText,
    signatureId: anyText,
    headers: fc.dictionary(fc.oneof(anyText, fc.constantFrom('svix-id', 'stripe-signature')), anyText),
    body: anyBody,
  })
  fc.assert(
    fc.property(anyDelivery, fc.array(anySecret, { maxLength: 4 }), (delivery, secrets) => {
      const findings = diagnose(delivery, secrets)
      const known = new Set<string>(findingCodes)
      return (
        findings.length > 0 && findings.every(({ code, message }) => known.has(code) && message.endsWith('.'))
      )
    }),
    { numRuns: 60 },
  )
  t.pass()
})
