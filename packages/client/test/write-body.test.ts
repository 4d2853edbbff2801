import t from 'tap'
import { createClient } from '../src/create-client.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

t.test('a bigint is sent as a text with the same digits', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t)
  const id = 8202522731445525542n
  await createClient({ baseUrl, retries: 0 }).trigger('LEAD_CREATED', { id, ids: [-1n, 0.1] })
  t.match(asked, [{ body: '{"data":{"id":"8202522731445525542","ids":["-1",0.1]}}' }])
})

t.test('a number that JSON does not have is a TypeError, and nothing is sent', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t)
  const client = createClient({ baseUrl })
  for (const score of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const message = `score is ${score}, and JSON has no such number`
    await t.rejects(client.trigger('LEAD_CREATED', { score }), { name: 'TypeError', message })
    await t.rejects(client.triggerBatch('LEAD_CREATED', [{ data: { score } }]), /no such number/)
  }
  t.equal(asked.length, 0)
})
