import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { readSigningKey } from '../src/signature.js'
import { signStandardWebhook } from '../src/standard-webhooks.js'

/** The example that Standard Webhooks publishes with its libraries. */
const published = {
  key: readSigningKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

t.test('the published example is reproduced exactly', async (t) => {
  t.same(signStandardWebhook([published.key], published), {
    'webhook-id': published.id,
    'webhook-timestamp': published.timestamp,
    'webhook-signature': published.signature,
  })
})

t.test('each key adds its signature, in order, separated by spaces', async (t) => {
  const other = Buffer.alloc(32, 7)
  const { 'webhook-signature': both } = signStandardWebhook([other, published.key], published)
  const { 'webhook-signature': first } = signStandardWebhook([other], published)
  t.equal(both, `${first} ${published.signature}`)
})

t.test('the signed content is id, timestamp and the bytes of the body', async () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((it) => Buffer.from(it))
  const text = fc.stringMatching(/^[a-z0-9:_-]{1,40}$/)
  fc.assert(
    fc.property(bytes, text, text, bytes, (key, id, timestamp, body) => {
      const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
      const expected = createHmac('sha256', key).update(signed).digest('base64')
      return signStandardWebhook([key], { id, timestamp, body })['webhook-signature'] === `v1,${expected}`
    }),
  )
})
