import { randomBytes } from 'node:crypto'
import t from 'tap'
import { readClaims } from '../src/claims.js'
import { findNearMiss } from '../src/near-miss.js'
import { base64, codesOf, hash, id, otherSecret, right, secret, sent, timestamp } from './fixtures/sender.js'

t.test('the work is bounded, whatever the size of the body and the number of secrets', async (t) => {
  const bytes = 8 * 1024 * 1024
  const secrets = [secret, ...Array.from({ length: 49 }, (_, at) => otherSecret({ id: `other-${at}` }))]
  const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(1024 * 1024 - 20) }))
  const deep = Buffer.from(`${'[{"a":'.repeat(5000)}1${'}]'.repeat(5000)}`)
  const wide = Buffer.from(`${'['.repeat(31)}${'1,'.repeat(9900)}1${']'.repeat(31)}`)
  for (const body of [right.body, large, deep, wide]) {
    const claims = readClaims(`${randomBytes(20).toString('hex')},${randomBytes(32).toString('hex')}`)
    const budget = { bytes }
    t.equal(findNearMiss({ ...right, signature: '', body }, secrets, claims, budget), undefined)
    t.ok(budget.bytes >= 0 && budget.bytes < bytes / 4, `${body.length} bytes: ${budget.bytes} left`)
  }
})

t.test('the likeliest mistakes are found for a large body, too', async (t) => {
  const body = Buffer.alloc(1024 * 1024, 'x')
  const other = otherSecret()
  const cases: [Buffer, string | Buffer, string[]][] = [
    [Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]), secret.key, ['signature_matches']],
    [Buffer.concat([Buffer.from(`${timestamp}.`), body]), secret.key, ['signed_without_id']],
    [body, secret.key, ['signed_body_alone']],
    [Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]), base64, ['key_not_decoded']],
  ]
  for (const [content, key, codes] of cases)
    t.same(codesOf(sent(hash(content, key), { body }), [secret, other]), codes)
})
