import { randomBytes } from 'node:crypto'
import t from 'tap'
import {
  codesOf,
  content,
  digest,
  hash,
  hex,
  right,
  secret,
  sentAs,
  text,
  timestamp,
} from './fixtures/sender.js'

t.test('each wrong notation of a signature is reported', async (t) => {
  const sha1 = hash(content, secret.key, 'sha1').toString('hex')
  const sha512 = hash(content, secret.key, 'sha512')
  // A digest whose two forms of base64 differ.
  const id = [...Array(100).keys()].map(String).find((id) => {
    const it = hash(`${id}.${timestamp}.${text}`).toString('base64')
    return it.includes('+') && it.includes('/')
  })
  const special = hash(`${id}.${timestamp}.${text}`)
  const cases: [string, string[]][] = [
    [digest.toString('base64'), ['signature_base64']],
    [`v1=${digest.toString('base64')}`, ['signature_base64']],
    [digest.toString('base64url'), ['signature_base64url']],
    [Buffer.from(hex).toString('base64'), ['signature_base64_of_hex']],
    [`v1,${digest.toString('base64')}`, ['signature_standard_webhooks']],
    [
      `v1,${randomBytes(32).toString('base64')} v1,${digest.toString('base64')}`,
      ['signature_standard_webhooks'],
    ],
    [`sha256=${hex}`, ['signature_prefix']],
    [`HMAC-SHA256 ${hex}`, ['signature_prefix']],
    [`"${hex}"`, ['signature_prefix']],
    [`sha256=${digest.toString('base64')}`, ['signature_base64', 'signature_prefix']],
    [hex.slice(0, 40), ['signature_truncated']],
    [`v1=${hex.slice(0, 63)}`, ['signature_truncated']],
    [sha1, ['signature_sha1']],
    [`sha1=${sha1}`, ['signature_prefix', 'signature_sha1']],
    [sha512.toString('hex'), ['signature_sha512']],
    [sha512.toString('base64'), ['signature_base64', 'signature_sha512']],
    [`${randomBytes(32).toString('hex')}, sha256=${hex}`, ['signature_prefix']],
  ]
  for (const [signature, codes] of cases) t.same(codesOf(sentAs(signature)), codes, signature)
  for (const encoding of ['base64', 'base64url'] as const) {
    const signature = special.toString(encoding)
    t.same(codesOf({ ...right, id: id ?? '', signature }), [`signature_${encoding}`], signature)
  }
})

t.test(
  'less than half a signature is never compared, because that would help an attacker who guesses',
  async (t) => {
    t.same(codesOf(sentAs(hex.slice(0, 30))), ['not_a_signature'])
    t.same(codesOf(sentAs(hex.slice(0, 32))), ['signature_truncated'])
  },
)
