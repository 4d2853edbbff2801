import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { BatchError } from '../src/batch-error.js'
import { createClient } from '../src/create-client.js'
import { openFlakyServer, type Turn } from './fixtures/flaky-server.js'

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
  t.equal(count, 3)
  const [first, second, third, fourth] = asked.map(({ body }) => keysOf(body))
  t.equal(new Set(first).size, 4)
  t.same(
    results,
    [accepted, accepted, refused, accepted].map((one, index) => ({ ...one, idempotencyKey: first?.[index] })),
  )
  t.same(second, first)
  t.same(third, [first?.[1], first?.[3]])
  t.same(fourth, [first?.[1]])
})

t.test('an event that never gets accepted is reported as failed', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [], answer(failed))
  const client = createClient({ baseUrl, retries: 1 })
  const event = { data: {}, idempotencyKey: 'mine' }
  const { results, remaining } = await client.triggerBatch('LEAD_CREATED', [event])
  t.same(results, [{ ...failed, idempotencyKey: 'mine' }])
  t.same(remaining, [event])
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

/** 1,200 events, whose third request fails. */
async function failLate(t: Test, turn: Turn) {
  const { baseUrl, asked } = await openFlakyServer(
    t,
    [answer(...Array(500).fill(accepted)), answer(...Array(500).fill(accepted))],
    turn,
  )
  const events = Array.from({ length: 1_200 }, (_, number) => ({ data: { number } }))
  const client = createClient({ baseUrl, retries: 0, timeoutMs: 60_000 })
  return { asked, client, events }
}

t.test('a batch that fails after 1,000 events reports them, and the keys of all', async (t) => {
  const { asked, client, events } = await failLate(t, { status: 401, body: { error: 'Token expired' } })
  const error = await failureOf(client.triggerBatch('LEAD_CREATED', events))
  if (!(error instanceof BatchError)) throw error
  t.match(error, { name: 'BatchError', status: 401, accepted: 1_000, cause: { message: 'Token expired' } })
  t.equal(error.message, 'Token expired (1000 of 1200 events are accepted)')
  const sent = asked.flatMap(({ body }) => keysOf(body))
  t.same(
    error.results.map(({ idempotencyKey }) => idempotencyKey),
    sent,
  )
  t.same(
    error.results.map(({ status }) => status),
    [...Array(1_000).fill('accepted'), ...Array(200).fill('failed')],
  )
  t.same(
    error.remaining,
    events.slice(1_000).map(({ data }, index) => ({ data, idempotencyKey: sent[1_000 + index] })),
  )

  asked.length = 0
  await t.rejects(client.triggerBatch('LEAD_CREATED', error.remaining))
  t.same(
    asked.flatMap(({ body }) => keysOf(body)),
    sent.slice(1_000),
    'a call with the remaining events posts no other, and these under their keys',
  )
})

t.test('a batch that is aborted, or meets an outage, reports what was accepted', async (t) => {
  for (const turn of ['hang', 'cut', { status: 503 }] as Turn[]) {
    const { asked, client, events } = await failLate(t, turn)
    const ending = new AbortController()
    const reason = new Error('enough')
    const failure = failureOf(client.triggerBatch('LEAD_CREATED', events, { signal: ending.signal }))
    while (asked.length < 3) await new Promise(setImmediate)
    if (turn === 'hang') ending.abort(reason)
    const error = await failure
    t.match(error, { name: 'BatchError', accepted: 1_000 }, `${turn}`)
    if (turn === 'hang') t.equal((error as BatchError).cause, reason)
  }
})

t.test('a batch is cut by bytes, too', async (t) => {
  const bytes: number[] = []
  const { baseUrl } = await openBatchServer(t, 1_048_576, bytes)
  const events = Array.from({ length: 1_000 }, (_, number) => ({ data: { number, text: 'ä'.repeat(1_500) } }))
  const { accepted } = await createClient({ baseUrl }).triggerBatch('LEAD_CREATED', events)
  t.equal(accepted, 1_000)
  t.ok(bytes.length <= 4, `${bytes.length} requests for 3 MB`)
})

t.test('an API with a lower limit gets smaller parts, and an event above it is refused alone', async (t) => {
  const bytes: number[] = []
  const { baseUrl, numbers } = await openBatchServer(t, 10_000, bytes)
  const events = Array.from({ length: 100 }, (_, number) => ({
    data: { number, text: 'x'.repeat(number === 42 ? 20_000 : 500) },
  }))
  const report = await createClient({ baseUrl, retries: 0 }).triggerBatch('LEAD_CREATED', events)
  t.equal(report.accepted, 99)
  t.match(report.results[42], {
    status: 'refused',
    errors: [{ field: 'events[42]', message: 'Request body is too large' }],
  })
  t.same(
    numbers,
    [...Array(100).keys()].filter((number) => number !== 42),
    'each is accepted once, in order',
  )
  t.same(report.remaining, [])
})

t.test('the fault of an event names its index in the call', async (t) => {
  const { baseUrl } = await openFlakyServer(t, [
    answer(...Array(500).fill(accepted)),
    answer(accepted, accepted, refused),
  ])
  const events = Array.from({ length: 503 }, () => ({ data: {} }))
  const { results } = await createClient({ baseUrl }).triggerBatch('LEAD_CREATED', events)
  t.same(results[502]?.errors, [{ field: 'events[502].data', message: 'Required' }])
})

/** An API that accepts events, with a limit of the body. `numbers` are those of the accepted events. */
async function openBatchServer(t: Test, bodyLimit: number, bytes: number[]) {
  const numbers: number[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    bytes.push(body.length)
    response.statusCode = body.length > bodyLimit ? 413 : 202
    if (body.length > bodyLimit) return response.end('{"error":"Request body is too large"}')
    const { events } = JSON.parse(body.toString()) as { events: { data: { number: number } }[] }
    numbers.push(...events.map(({ data }) => data.number))
    return response.end(JSON.stringify({ accepted: events.length, results: events.map(() => accepted) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, numbers }
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}
