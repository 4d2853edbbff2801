import t from 'tap'
import { readSigningKey, signWebhook } from '../src/signature.js'
import { verifySignature } from './fixtures/sender.js'
import { readSigningVectors } from './fixtures/signing-vectors.js'

const vectors = await readSigningVectors()

t.test('the published test vectors are correct', async (t) => {
  t.ok(vectors.length >= 8)
  for (const { name, secret, id, timestamp, body, signature, valid, why } of vectors) {
    const parts = { id, timestamp, body }
    const key = readSigningKey(secret)
    t.equal(verifySignature(key, parts, signature), valid, name)
    t.equal(signWebhook(key, parts) === signature, valid, `${name}, when it is signed`)
    t.equal(why === undefined, valid, `${name} says why it is invalid`)
  }
})
