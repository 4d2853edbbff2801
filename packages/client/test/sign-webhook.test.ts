import { newSigningSecret, readSigningKey, useScheme, verifyByScheme } from '@automation/webhooks'
import { readSigningVectors } from '@automation/webhooks/signing-vectors'
import t from 'tap'
import { signWebhook } from '../src/sign-webhook.js'

for (const { name, signature, valid, ...parts } of await readSigningVectors()) {
  t.test(`vector: ${name}`, async (t) => {
    const signed = await signWebhook(parts)
    t.equal(signed === signature, valid)
  })
}

t.test('the receiver verifies the signature of the client', async (t) => {
  for (const body of ['', '{"name":"Zoë 🚀"}', new Uint8Array([0, 255, 10])]) {
    const parts = { id: 'evt:1', timestamp: '1789000000', body }
    const secret = newSigningSecret()
    const header = await signWebhook({ secret, ...parts })
    const headers = { 'x-idempotency-key': parts.id, 'x-timestamp': parts.timestamp, 'x-signature': header }
    const received = { headers, query: '', isForm: false, body: Buffer.from(body) }
    t.ok(verifyByScheme(useScheme('automation', {}), readSigningKey(secret), received))
  }
})

t.test('a text that is not a secret is refused', async (t) => {
  const parts = { id: 'evt_1', timestamp: '1789000000', body: '{}' }
  for (const secret of ['', 'whsec_', 'c2VjcmV0', 'whsec_c2VjcmV', 'whsec_c2Vj cmV0'])
    await t.rejects(signWebhook({ secret, ...parts }), { name: 'TypeError', message: 'Not a whsec_ secret' })
})
