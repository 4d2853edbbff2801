import crypto, { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { findingCodes } from '../src/findings.js'
import { diagnose, type KnownSecret } from '../src/schemes/diagnose.js'
import { SchemeName } from '../src/schemes/scheme.js'
import {
  base64,
  codesOf,
  content,
  digest,
  hash,
  hex,
  id,
  otherSecret,
  secret,
  sent,
  sentAs,
  text,
  timestamp,
} from './fixtures/sender.js'

t.test('a right signature is reported as right, whatever the reason of the refusal', async (t) => {
  t.same(codesOf(sentAs(`v1=${hex}`)), ['signature_matches'])
  t.same(codesOf(sentAs(hex.toUpperCase())), ['signature_matches'])
  t.same(codesOf(sent(digest), [otherSecret(), secret]), ['signature_matches'])
  t.same(codesOf(sentAs(`t=${timestamp},v1=${hex}`)), ['signature_matches'], 'as Stripe writes it')
  t.same(codesOf(sent(digest), [{ ...secret, state: 'retiring' }]), ['signature_matches'])
  const inMs = sent(hash(`${id}.${timestamp}437.${text}`), { timestamp: `${timestamp}437` })
  t.match(diagnose(inMs, [secret], true), [
    { code: 'signature_matches', message: /clock.*current time, in seconds/ },
  ])
})

t.test('the signing secret is found among all secrets of the workspace', async (t) => {
  const other = otherSecret()
  const ofOther = sent(hash(content, other.key))
  const [finding, ...more] = diagnose(ofOther, [secret, other], true)
  t.match(finding, { code: 'other_secret', secretId: other.id, message: other.id })
  t.strictSame(more, [])

  const foreign = otherSecret({ provider: 'bank' })
  const findings = diagnose(sent(hash(content, foreign.key)), [secret, foreign], true)
  t.match(findings, [
    { code: 'other_secret', secretId: foreign.id },
    { code: 'other_provider', secretId: foreign.id, message: 'provider bank;' },
  ])
  t.equal(findings.length, 2)
  const elsewhere = [secret, otherSecret({ provider: 'bank' })]
  t.same(codesOf(sent(digest, { provider: 'bank' }), elsewhere), ['other_provider'], 'at the wrong path')

  const twin = otherSecret({ key: secret.key })
  t.same(codesOf(sent(digest), [twin, secret]), ['signature_matches'], 'the named one goes first')
})

t.test('a retired or revoked secret that signed is reported', async (t) => {
  for (const state of ['retired', 'revoked'] as const) {
    const gone = { ...secret, state }
    const [finding, ...more] = diagnose(sent(digest), [gone], true)
    t.match(finding, { code: `secret_${state}`, secretId: secret.id })
    t.strictSame(more, [])
    const other = otherSecret({ state })
    t.same(codesOf(sent(hash(content, other.key)), [secret, other]), ['other_secret', `secret_${state}`])
  }
})

t.test('a signature that nothing explains is reported with what is usually wrong', async (t) => {
  const unexplained = ['no_match_of_provider', 'usual_mistake']
  for (const signature of [randomBytes(32).toString('hex'), digest.toString('base64'), hex.slice(1), 'none'])
    t.same(codesOf(sentAs(signature)), unexplained, signature)
  t.same(codesOf(sent(hash(text))), unexplained)
  t.match(diagnose(sent(hash(content, base64)), [secret], true)[1]?.message, 'after whsec_, base64-decoded')
  t.same(codesOf(sent(digest), [{ ...secret, key: undefined }]), unexplained, 'its secret does not open')
})

t.test('an id of a secret that is unknown is reported, or the secret that signed', async (t) => {
  const unknown = { signatureId: '0197a000-0000-7000-8000-0000000000ff' }
  t.same(codesOf(sent(digest, unknown)), ['other_secret'])
  t.equal(codesOf(sent(randomBytes(32), unknown))[0], 'unknown_signature_id')
  t.same(codesOf(sent(digest, { signatureId: secret.id.toUpperCase() })), ['signature_matches'])
})

t.test('a missing header is reported, also if the body was not read', async (t) => {
  const nothing = sent(digest, { id: '', timestamp: '', signature: '', signatureId: '' })
  const findings = diagnose(nothing, [secret], true)
  t.same(
    findings.map(({ code }) => code),
    Array(4).fill('header_missing'),
  )
  t.match(findings[0]?.message, 'x-idempotency-key')
  t.same(diagnose(nothing, [secret], false), findings)
  t.same(codesOf(sent(digest, { signatureId: '' })), ['header_missing', 'other_secret'])
  t.same(diagnose(sent(randomBytes(32)), [secret], false), [], 'and nothing else then')
})

t.test('a sender that signs in another way is named', async (t) => {
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
    const foreign = sent(digest, { ...none, headers })
    const [finding, ...others] = diagnose(foreign, [secret], true)
    t.match(finding, { code: 'foreign_scheme', message: `in the format of ${name} (${header}), which` })
    t.same(others, [], 'and no list of our headers')
    t.notMatch(finding?.message, 'evil-word')
    t.same(diagnose(foreign, [secret], false), [finding], 'also if the body was not read')
    t.same(codesOf(sent(digest, { headers })), ['signature_matches'], 'a relay passes the header on')
    t.same(codesOf(sent(digest, { headers, timestamp: '' }))[0], 'header_missing', 'what a relay forgets')
  }
  const both = { 'x-slack-signature': 'x', 'stripe-signature': '' }
  t.match(diagnose(sent(digest, { ...none, headers: both }), [secret], true)[0]?.message, 'Stripe')
  const github = otherSecret({ scheme: 'github' })
  t.match(diagnose(sent(digest), [github], true), [
    { code: 'foreign_scheme', message: 'in the format of a sender of your own (x-signature), which' },
  ])
})

t.test('the work is bounded, whatever the size of the body and the number of secrets', async (t) => {
  const { createHmac } = crypto
  let hashes = 0
  let bytes = 0
  crypto.createHmac = ((...args: Parameters<typeof createHmac>) => {
    const hmac = createHmac(...args)
    const { update } = hmac
    hashes++
    hmac.update = ((data: Buffer | string) => {
      bytes += data.length
      return Reflect.apply(update, hmac, [data])
    }) as typeof update
    return hmac
  }) as typeof createHmac
  syncBuiltinESMExports()
  t.teardown(() => {
    crypto.createHmac = createHmac
    syncBuiltinESMExports()
  })
  const secrets = [secret, ...Array.from({ length: 49 }, (_, at) => otherSecret({ id: `other-${at}` }))]
  const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(1024 * 1024 - 20) }))
  const deep = Buffer.from(`${'[{"a":'.repeat(5000)}1${'}]'.repeat(5000)}`)
  const wide = Buffer.from(`${'['.repeat(31)}${'1,'.repeat(9900)}1${']'.repeat(31)}`)
  for (const body of [Buffer.from(text), large, deep, wide]) {
    hashes = 0
    bytes = 0
    t.equal(codesOf(sent(randomBytes(32), { body }), secrets)[0], 'no_match_of_provider')
    t.ok(hashes > 0 && hashes <= 4_096, `${hashes} hashes`)
    t.ok(bytes <= 8 * 1024 * 1024, `${body.length} bytes: ${bytes} hashed`)
  }
})

t.test('the secret that signed is found for a large body, too', async (t) => {
  const body = Buffer.alloc(1024 * 1024, 'x')
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  const other = otherSecret()
  t.same(codesOf(sent(hash(signed), { body }), [secret, other]), ['signature_matches'])
  t.same(codesOf(sent(hash(signed, other.key), { body }), [secret, other]), ['other_secret'])
})

t.test('the named secret is tried with each form of the body before other secrets', async (t) => {
  const numbers = Array.from({ length: 600 }, (_, at) => at)
  const body = Buffer.from(JSON.stringify(numbers.map((b) => ({ b, a: `line ${b}` }))))
  const signed = JSON.stringify(numbers.map((b) => ({ a: `line ${b}`, b })))
  const others = Array.from({ length: 49 }, (_, at) => otherSecret({ id: `other-${at}` }))
  const request = sent(hash(`${id}.${timestamp}.${signed}`), { body })
  t.same(codesOf(request, [...others, secret]), ['body_changed'])
})

t.test('a body that no secret can have signed is written in no other form', async (t) => {
  const body = Buffer.from('{"a": 1}')
  body.toString = () => {
    throw new Error('It was read')
  }
  const headers = { 'x-hub-signature-256': 'sha256=00' }
  const none = { id: '', timestamp: '', signature: '', signatureId: '' }
  t.same(codesOf(sent(digest, { ...none, headers, body })), ['foreign_scheme'])
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
      const findings = JSON.stringify(diagnose(sent(digest, { signature, ...fields }), [secret, other], true))
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
    provider: fc.oneof(fc.constant('shop'), anyText),
    key: fc.uint8Array().map((it) => Buffer.from(it)),
    scheme: fc.constantFrom(...SchemeName.enum),
    settings: fc.constant(null),
    state: fc.constantFrom<KnownSecret['state']>('active', 'retiring', 'retired', 'revoked'),
  })
  const header = fc.constantFrom(
    ...['x-idempotency-key', 'x-timestamp', 'x-signature-id', 'x-signature', 'svix-id', 'stripe-signature'],
  )
  const anyDelivery = fc.record({
    provider: fc.oneof(fc.constant('shop'), anyText),
    headers: fc.dictionary(fc.oneof(header, anyText), anyText),
    query: anyText,
    isForm: fc.boolean(),
    body: anyBody,
  })
  fc.assert(
    fc.property(
      anyDelivery,
      fc.array(anySecret, { maxLength: 4 }),
      fc.boolean(),
      (delivery, secrets, isRead) => {
        const known = new Set<string>(findingCodes)
        const findings = diagnose(delivery, secrets, isRead)
        const isExplained = findings.length > 0 || !isRead || !secrets.some(isOf(delivery))
        return isExplained && findings.every(({ code, message }) => known.has(code) && message.endsWith('.'))
      },
    ),
    { numRuns: 60 },
  )
  t.pass()
})

function isOf({ provider }: { provider: string }) {
  return (secret: KnownSecret) => secret.provider === provider
}
