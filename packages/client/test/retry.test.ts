import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startPatientClock } from '@automation/launcher/patient-clock'
import t, { type Test } from 'tap'
import { ApiError } from '../src/api-error.js'
import { createClient } from '../src/create-client.js'
import { openFlakyServer, type Turn } from './fixtures/flaky-server.js'

const busy = {
  status: 503,
  headers: { 'retry-after': '0' },
  body: { error: 'Service temporarily unavailable' },
}
const limited = { status: 429, headers: { 'retry-after': '0' }, body: { error: 'Rate limit exceeded' } }
const stillRunning = {
  status: 409,
  headers: { 'retry-after': '0' },
  body: { error: 'A request with this Idempotency-Key is still running' },
}
const done = {
  status: 200,
  headers: { 'content-location': '/api/events/e1' },
  body: { triggered: 0, matched: 0, results: [] },
}

/** A client of a server that begins with these turns. */
async function openClient(t: Test, turns: Turn[], last?: Turn, options: { timeoutMs?: number } = {}) {
  const { baseUrl, asked } = await openFlakyServer(t, turns, last)
  return { client: createClient({ baseUrl, apiKey: 'ark_test', ...options }), asked }
}

for (const turn of [
  'cut',
  'cut in the response',
  busy,
  { status: 502 },
  { status: 504 },
  limited,
] as Turn[]) {
  const name = typeof turn === 'string' ? turn : turn.status
  t.test(`a request that only reads is repeated after ${name}`, async (t) => {
    const { client, asked } = await openClient(t, [turn])
    await client.rules.health()
    t.same(
      asked.map(({ what }) => what),
      ['GET /api/automation-rules/health', 'GET /api/automation-rules/health'],
    )
  })

  t.test(`an event is posted again after ${name}, with the same key`, async (t) => {
    const { client, asked } = await openClient(t, [turn], done)
    t.match(await client.trigger('LEAD_CREATED', { score: 1 }), { status: 'done', id: 'e1' })
    const [first, second] = asked
    t.match(first?.headers['idempotency-key'], /^[0-9a-f]{32}$/)
    t.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key'])
    t.equal(second?.body, first?.body)
    t.equal(asked.length, 2)
  })
}

t.test('a request without a response is repeated after the timeout', async (t) => {
  const { client, asked } = await openClient(t, ['hang'], undefined, { timeoutMs: 2_000 })
  await client.rules.health()
  t.equal(asked.length, 2)
})

t.test('a request without a key is not repeated if it may have been done', async (t) => {
  for (const turn of ['cut', 'cut in the response', busy, { status: 502 }] as Turn[]) {
    const { client, asked } = await openClient(t, [turn])
    await t.rejects(client.rules.toggle('r1'), ApiError)
    t.equal(asked.length, 1)
  }
})

t.test('a request that was certainly not done is repeated even without a key', async (t) => {
  const { client, asked } = await openClient(t, [limited])
  await client.rules.toggle('r1')
  t.equal(asked.length, 2, 'after a 429')

  const { port, server } = await reservePort(t)
  const waiting = createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    fetch: (url, init) =>
      fetch(url, init).catch((error) => {
        server.listen(port, '127.0.0.1')
        throw error
      }),
  })
  t.same(await waiting.rules.toggle('r1'), {}, 'and after a refused connection')
})

t.test('each call has its own key, and a caller may choose it', async (t) => {
  const { client, asked } = await openClient(t, [], done)
  await client.trigger('LEAD_CREATED', {})
  await client.trigger('LEAD_CREATED', {})
  await client.trigger('LEAD_CREATED', {}, { idempotencyKey: 'deal-7' })
  const keys = asked.map(({ headers }) => headers['idempotency-key'])
  t.equal(new Set(keys).size, 3)
  t.equal(keys[2], 'deal-7')
})

t.test('while the first request with its key runs, a repetition uses up no attempts', async (t) => {
  const { client, asked } = await openClient(t, ['cut', ...Array<Turn>(8).fill(stillRunning)], done)
  t.match(await client.trigger('LEAD_CREATED', {}), { status: 'done' })
  t.equal(asked.length, 10)
})

t.test('a first request that runs longer than the timeout is an error', async (t) => {
  const running = { ...stillRunning, headers: { 'retry-after': '1' } }
  const { client, asked } = await openClient(t, [], running, { timeoutMs: 1_500 })
  const clock = startPatientClock()
  t.match(await failureOf(client.trigger('LEAD_CREATED', {}, { async: true })), { status: 409 })
  t.equal(asked.length, 2)
  t.ok(clock() < 2_000, 'it does not wait for a time after its end')
})

t.test('any other conflict is an error at once', async (t) => {
  const { client, asked } = await openClient(t, [], {
    status: 409,
    body: { error: 'A workspace may have 1000 rules' },
  })
  const rule = { name: 'Call', trigger: 'LEAD_CREATED', actions: [] } as const
  t.match(await failureOf(client.rules.create({ ...rule, actions: [] })), {
    status: 409,
    message: 'A workspace may have 1000 rules',
  })
  t.equal(asked.length, 1)
})

t.test('a 404 for a repeated deletion is a success', async (t) => {
  const notFound = { status: 404, body: { error: 'Automation rule not found' } }
  const { client } = await openClient(t, ['cut'], notFound)
  t.equal(await client.rules.delete('r1'), undefined)
  const { client: other } = await openClient(t, [limited], notFound)
  t.match(
    await failureOf(other.rules.delete('r1')),
    { status: 404 },
    'but not if the first attempt was refused',
  )
})

t.test('a 404 after a doubt is an error of any other request', async (t) => {
  const notFound = { status: 404, body: { error: 'Automation rule not found' } }
  const calls: ((rules: ReturnType<typeof createClient>['rules']) => Promise<unknown>)[] = [
    (rules) => rules.get('r1'),
    (rules) => rules.update('r1', { name: 'New' }, { ifVersion: 3 }),
    (rules) => rules.execute('r1', {}),
  ]
  for (const call of calls) {
    const { client, asked } = await openClient(t, [busy], notFound)
    t.match(await failureOf(call(client.rules)), { status: 404, message: 'Automation rule not found' })
    t.equal(asked.length, 2)
  }
})

t.test('a 412 for a repeated update leaves its outcome unknown', async (t) => {
  const mismatch = {
    status: 412,
    body: { error: 'The rule has changed since you read it: read it again, and retry with its new ETag' },
  }
  const { client, asked } = await openClient(t, ['cut'], mismatch)
  t.match(await failureOf(client.rules.update('r1', { name: 'New' }, { ifVersion: 3 })), { status: 0 })
  t.same(
    asked.map(({ headers }) => headers['if-match']),
    ['"3"', '"3"'],
  )
  const { client: other } = await openClient(t, [], mismatch)
  t.match(await failureOf(other.rules.update('r1', { name: 'New' }, { ifVersion: 3 })), { status: 412 })
})

t.test('the client gives up after the last attempt', async (t) => {
  const { client, asked } = await openClient(t, [], busy)
  t.match(await failureOf(client.rules.health({ retries: 2 })), { status: 503, retryAfterSeconds: 0 })
  t.equal(asked.length, 3)
})

t.test('a long Retry-After is an error at once', async (t) => {
  const { client, asked } = await openClient(t, [], { ...limited, headers: { 'retry-after': '3600' } })
  t.match(await failureOf(client.rules.health()), { status: 429, retryAfterSeconds: 3600 })
  t.equal(asked.length, 1)
})

t.test('the client waits for the Retry-After', async (t) => {
  const { client } = await openClient(t, [{ ...limited, headers: { 'retry-after': '1' } }])
  const startedAt = performance.now()
  await client.rules.health()
  t.ok(performance.now() - startedAt >= 1_000)
})

t.test('a signal aborts the request, and the wait for the next attempt', async (t) => {
  const reason = new Error('enough')
  const { client: hanging, asked } = await openClient(t, [], 'hang')
  const during = new AbortController()
  const answer = failureOf(hanging.rules.health({ signal: during.signal }))
  await until(() => asked.length > 0)
  during.abort(reason)
  t.equal(await answer, reason)

  const bucket = { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' }
  const full = { ...limited, headers: { ...bucket, 'retry-after': '60' } }
  const { client: waiting } = await openClient(t, [], full)
  const between = new AbortController()
  const later = failureOf(waiting.rules.health({ signal: between.signal }))
  await until(() => waiting.rateLimit !== undefined)
  between.abort(reason)
  t.equal(await later, reason)

  const { client, asked: nothing } = await openClient(t, [])
  t.equal(await failureOf(client.rules.health({ signal: AbortSignal.abort(reason) })), reason)
  t.equal(nothing.length, 0, 'a signal that is already aborted prevents the request')
})

t.test('an error has all fields of the error response', async (t) => {
  const errors = [{ field: 'name', message: 'Required' }]
  const headers = { 'x-request-id': 'q-1' }
  const { client } = await openClient(t, [
    { status: 422, headers, body: { errors } },
    { status: 500, headers, body: { error: 'Internal server error' } },
    { status: 403, body: '<html>' },
  ])
  const create = client.rules.create({ name: '', trigger: 'LEAD_CREATED', actions: [] })
  t.match(await failureOf(create), { status: 422, message: 'name: Required', errors, requestId: 'q-1' })
  t.match(await failureOf(client.rules.health()), {
    status: 500,
    message: 'Internal server error',
    requestId: 'q-1',
  })
  t.match(await failureOf(client.rules.health()), {
    status: 403,
    message: 'Not a response of the API: 403',
  })
})

t.test('an id that would change the path is escaped or refused', async (t) => {
  const { client, asked } = await openClient(t, [])
  await t.rejects(client.rules.delete(''), TypeError)
  await t.rejects(client.rules.get('..'), TypeError)
  t.equal(asked.length, 0)
  await client.rules.get('a/b?c')
  t.equal(asked[0]?.what, 'GET /api/automation-rules/a%2Fb%3Fc')
})

/** The error of a call, or undefined. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate)
}

/** A port, and a server that does not listen on it yet. */
async function reservePort(t: Test) {
  const server = createServer((_, response) => response.end('{}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port, server }
}

t.test('a key for an operation that accepts none is refused, and nothing is sent', async (t) => {
  const { client, asked } = await openClient(t, [])
  const options = { idempotencyKey: 'lead-1' }
  await t.rejects(client.rules.update('r1', { isActive: false }, options as object), {
    name: 'TypeError',
    message: 'PUT /api/automation-rules/{id} accepts no idempotencyKey',
  })
  t.same(asked, [])
})
