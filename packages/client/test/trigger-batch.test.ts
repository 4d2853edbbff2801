import t from 'tap'
import { createClient } from '../src/create-client.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

const accepted = { status: 'accepted', id: 'e' }
const failed = { status: 'failed', error: 'Service temporarily unavailable' }
const refused = { status: 'refused', errors: [{ field: 'events[2].data', message: 'Required' }] }

function answer(...results: object[]) {
  return { status: 202, body: { accepted: 0, results } }
}

function keysOf(body: string | undefined): string[] {
  const { events } = JSON.parse(body ?? '') as { events: { idempotencyKey: string }[] }
  return events.map(({ idempotencyKey }) => idempotencyKey)
}

t.test('events of a batch that were not accepted are posted again, with their keys', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [
    'cut',
    answer(accepted, failed, refused, failed),
    answer(failed, accepted),
    answer(accepted),
  ])
  const events = [0, 1, 2, 3].map((number) => ({ data: { number } }))
  const { results, accepted: count } = await createClient({ baseUrl }).triggerBatch('LEAD_CREATED', events)
  t.same(results, [accepted, accepted, refused, accepted])
  t.equal(count, 3)
  const [first, second, third, fourth] = asked.map(({ body }) => keysOf(body))
  t.equal(new Set(first).size, 4)
  t.same(second, first)
  t.same(third, [first?.[1], first?.[3]])
  t.same(fourth, [first?.[1]])
})

t.test('an event that never gets accepted is reported as failed', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [], answer(failed))
  const client = createClient({ baseUrl, retries: 1 })
  const { results } = await client.triggerBatch('LEAD_CREATED', [{ data: {}, idempotencyKey: 'mine' }])
  t.same(results, [failed])
  t.same(
    asked.map(({ body }) => keysOf(body)),
    [['mine'], ['mine']],
  )
})

t.test('a batch above the limit of the API is posted in parts, one after the other', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [
    answer(...Array(500).fill(accepted)),
    answer(...Array(200).fill(accepted)),
  ])
  const events = Array.from({ length: 700 }, (_, number) => ({ data: { number } }))
  const answered = await createClient({ baseUrl }).triggerBatch('LEAD_CREATED', events)
  t.equal(answered.accepted, 700)
  t.same(
    asked.map(({ body }) => keysOf(body).length),
    [500, 200],
  )
})
