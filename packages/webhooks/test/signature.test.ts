import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import t from 'tap'
import { newSigningSecret, readSigningKey, signWebhook, toleranceSeconds } from '../src/signature.js'
import { verifySignature } from './fixtures/sender.js'

const standard = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  signature: 'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const key = readSigningKey(standard.secret)
const right = signWebhook(key, standard)
const hex = right.slice('v1='.length)

const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 200 }).map((it) => Buffer.from(it))
const eventId = fc.stringMatching(/^[A-Za-z0-9_:-]{1,255}$/)
const seconds = fc.nat(4_000_000_000).map(String)
const delivery = fc.record({ key: bytes(1), id: eventId, timestamp: seconds, body: bytes(0) })

t.test('a signed content is verified, and a string counts as its UTF-8 bytes', async () => {
  fc.assert(
    fc.property(delivery, fc.string({ unit: 'grapheme' }), ({ key, ...parts }, text) => {
      const isRight = verifySignature(key, parts, signWebhook(key, parts))
      const ofText = signWebhook(key, { ...parts, body: text })
      return isRight && verifySignature(key, { ...parts, body: Buffer.from(text) }, ofText)
    }),
  )
})

t.test('one changed byte of key, id, timestamp, body or signature is refused', async () => {
  const change = (text: string, at: number) => {
    const index = at % text.length
    return text.slice(0, index) + (text[index] === '1' ? '2' : '1') + text.slice(index + 1)
  }
  const flip = (bytes: Buffer, at: number) => {
    const flipped = Buffer.from(bytes)
    flipped[at % flipped.length] = (flipped[at % flipped.length] ?? 0) ^ (1 << (at % 8))
    return flipped
  }
  fc.assert(
    fc.property(delivery, bytes(1), fc.nat(), ({ key, ...fields }, body, at) => {
      const parts = { ...fields, body }
      const header = signWebhook(key, parts)
      const signature = `v1=${change(header.slice('v1='.length), at)}`
      const accepted = [
        verifySignature(flip(key, at), parts, header),
        verifySignature(key, { ...parts, id: change(parts.id, at) }, header),
        verifySignature(key, { ...parts, timestamp: change(parts.timestamp, at) }, header),
        verifySignature(key, { ...parts, body: flip(body, at) }, header),
        verifySignature(key, parts, signature),
      ]
      return !accepted.includes(true)
    }),
  )
})

t.test('a signature is refused if bytes move from one part to the next', async (t) => {
  const header = signWebhook(key, { id: 'a', timestamp: '1', body: '2.{}' })
  t.ok(verifySignature(key, { id: 'a', timestamp: '1', body: '2.{}' }, header))
  t.notOk(verifySignature(key, { id: 'a', timestamp: '12', body: '.{}' }, header))
  t.notOk(verifySignature(key, { id: 'a1', timestamp: '2', body: '{}' }, header))
})

t.test('the published signature of Standard Webhooks is right, written as hex', async (t) => {
  const published = Buffer.from(standard.signature, 'base64').toString('hex')
  t.equal(right, `v1=${published}`)
  t.ok(verifySignature(key, standard, `v1=${published}`))
  t.notOk(verifySignature(key, standard, `v1,${standard.signature}`), 'its own form is not ours')
})

t.test('a signature may be bare or labelled, in lower or upper case, and one of several', async (t) => {
  const other = signWebhook(readSigningKey(newSigningSecret()), standard)
  const headers = [
    hex,
    right.toUpperCase(),
    ` ${right} `,
    `${other},${right}`,
    `${right}, ${other}`,
    `v2=ab,,${hex}`,
    `${right},${right}`,
    `${'v1=,'.repeat(15)}${right}`,
  ]
  for (const header of headers) t.ok(verifySignature(key, standard, header), header)
})

t.test('everything else is refused as a signature', async (t) => {
  const headers = [
    '',
    ',',
    'v1=',
    hex.slice(1),
    `${hex}0`,
    `${hex} ${hex}`,
    `v0=${hex}`,
    `sha256=${hex}`,
    `"${hex}"`,
    `v1=${hex}\0`,
    standard.signature,
    `${'v1=,'.repeat(16)}${right}`,
  ]
  for (const header of headers) t.notOk(verifySignature(key, standard, header), JSON.stringify(header))
  fc.assert(fc.property(fc.string(), (header) => !verifySignature(key, standard, header)))
})

t.test('the documentation for senders states the clock tolerance', async (t) => {
  const page = await readFile(new URL('../../../../docs/reference/signing.md', import.meta.url), 'utf8')
  t.match(page, `At most ${toleranceSeconds} seconds from the receiver's clock`)
})

t.test('a new secret is 32 random bytes that can be read as a key', async (t) => {
  const secrets = Array.from({ length: 20 }, newSigningSecret)
  t.equal(new Set(secrets).size, 20)
  for (const secret of secrets) t.equal(readSigningKey(secret).length, 32)
})

t.test('a text that is not a secret throws', async (t) => {
  const texts = [
    '',
    'whsec_',
    'whsec_====',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    ' whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n',
    'whsec_MfKQ9r8G KYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_not-base64_',
    'whsec_YQ',
    'whsec_YR==',
  ]
  for (const text of texts)
    t.throws(() => readSigningKey(text), new TypeError('Not a whsec_ secret'), JSON.stringify(text))
})
