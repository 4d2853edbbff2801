import { newId } from '@automation/database'
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import { UnopenedSecrets } from '../src/routes/incoming-webhooks/unopened-secrets.js'

t.test('each delivery is counted, and one line a minute is logged', async (t) => {
  const lines: unknown[] = []
  let count = 0
  const log = { error: (fields: unknown) => lines.push(fields) } as unknown as FastifyBaseLogger
  const unopened = new UnopenedSecrets(log, () => count++)
  const secrets = [newId(), newId()].map((id) => ({ id, sealed: Buffer.from(id) }))
  const noteAt = (ms: number) => {
    t.intercept(Date, 'now', { value: () => ms })
    for (const secret of secrets) unopened.note(secret)
  }
  for (const ms of [1_000_000, 1_059_999, 1_060_000]) noteAt(ms)
  t.equal(count, 6)
  t.strictSame(lines, [{ secretId: secrets[0]?.id }, { secretId: secrets[0]?.id }])
})

t.test('a secret is known until its sealed value differs', async (t) => {
  const unopened = new UnopenedSecrets({ error() {} } as unknown as FastifyBaseLogger, () => {})
  const id = newId()
  unopened.note({ id, sealed: Buffer.from('one') })
  t.ok(unopened.has({ id, sealed: Buffer.from('one') }))
  t.notOk(unopened.has({ id, sealed: Buffer.from('two') }))
  t.notOk(unopened.has({ id: newId(), sealed: Buffer.from('one') }))
})
