import { readFile } from 'node:fs/promises'
import t from 'tap'
import { readSigningKey, signWebhook } from '../src/signature.js'
import { verifySignature } from './fixtures/sender.js'

interface Vector {
  name: string
  secret: string
  id: string
  timestamp: string
  /** Exactly one of `body` and `bodyBase64` is set. */
  body?: string
  bodyBase64?: string
  signature: string
  valid: boolean
  /** Why an invalid vector is invalid. */
  why?: string
}

const file = new URL('../../../../docs/signing-vectors.json', import.meta.url)
const vectors: Vector[] = JSON.parse(await readFile(file, 'utf8'))

t.test('the published test vectors are correct', async (t) => {
  t.ok(vectors.length >= 8)
  for (const { name, secret, id, timestamp, body = '', bodyBase64, signature, valid, why } of vectors) {
    const bytes = bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, 'base64')
    const parts = { id, timestamp, body: bytes }
    const key = readSigningKey(secret)
    t.equal(verifySignature(key, parts, signature), valid, name)
    t.equal(signWebhook(key, parts) === signature, valid, `${name}, when it is signed`)
    t.equal(why === undefined, valid, `${name} says why it is invalid`)
  }
})
