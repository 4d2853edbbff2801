import { startPatientClock } from '@automation/launcher/patient-clock'
import t from 'tap'
import { createClient } from '../src/create-client.js'
import { openFlakyServer, type Turn } from './fixtures/flaky-server.js'

// Each call ends within its limit: timeouts, signals and the waits that a server asks for.

const still = { name: 'ApiError', message: 'Still running' }
const slow = { status: 503, headers: { 'retry-after': '100' } }

t.test('a timeout of Infinity, or of a month, is no timeout', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t)
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31, Number.MAX_VALUE]) {
    await createClient({ baseUrl, timeoutMs, retries: 0 }).rules.health()
    await createClient({ baseUrl, retries: 0 }).rules.health({ timeoutMs })
    await createClient({ baseUrl, timeoutMs, retries: 0 }).trigger('LEAD_CREATED', {})
  }
  t.equal(asked.length, 9, 'each was sent once')
  const { baseUrl: waiting } = await openFlakyServer(t, [{ status: 200, body: { status: 'running' } }], {
    status: 200,
    body: { status: 'done' },
  })
  const { events } = createClient({ baseUrl: waiting })
  t.match(await events.waitUntilDone('e1', { timeoutMs: Number.POSITIVE_INFINITY }), { status: 'done' })
})

t.test('wrong timeouts and numbers of retries are TypeErrors, and nothing is sent', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t)
  const client = createClient({ baseUrl })
  for (const timeoutMs of [Number.NaN, 0, -1, '5' as never, null as never]) {
    t.throws(() => createClient({ baseUrl, timeoutMs }), TypeError, `${timeoutMs}`)
    await t.rejects(client.rules.health({ timeoutMs }), TypeError)
    await t.rejects(client.events.waitUntilDone('e1', { timeoutMs }), TypeError)
  }
  for (const retries of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, '5' as never, null as never]) {
    t.throws(() => createClient({ baseUrl, retries }), TypeError, `${retries}`)
    await t.rejects(client.rules.health({ retries }), TypeError)
  }
  for (const wait of [Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as never, null as never])
    await t.rejects(client.trigger('LEAD_CREATED', {}, { wait }), TypeError)
  t.equal(asked.length, 0)
})

t.test('waitUntilDone ends within its timeout, however its requests fare', async (t) => {
  for (const turn of ['hang', slow, { ...slow, status: 429 }, 'cut'] as Turn[]) {
    const { baseUrl } = await openFlakyServer(t, [], turn)
    const client = createClient({ baseUrl })
    for (const group of [client.events, client.executions]) {
      const clock = startPatientClock()
      const waiting: Promise<object> = group.waitUntilDone('x1', { timeoutMs: 300 })
      await t.rejects(waiting, { message: 'Not done within 300 ms' })
      t.ok(clock() < 2_000, JSON.stringify(turn))
    }
  }
})

t.test('waitUntilDone does not read the clock of the day', async (t) => {
  const { baseUrl } = await openFlakyServer(t, [], { status: 200, body: { status: 'running' } })
  const { now } = Date
  let looks = 0
  t.teardown(() => {
    Date.now = now
  })
  // The clock is set back by an hour after each look.
  Date.now = () => now() - 3_600_000 * looks
  const fetchAndCount: typeof fetch = (url, init) => {
    looks++
    return fetch(url, init)
  }
  const { events } = createClient({ baseUrl, fetch: fetchAndCount })
  const waiting = events.waitUntilDone('e1', { timeoutMs: 400, signal: AbortSignal.timeout(60_000) })
  await t.rejects(waiting, { message: 'Not done within 400 ms' })
})

t.test('a token function that never returns ends with the timeout, or with the signal', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t)
  const token = () => new Promise<string>(() => {})
  const { rules } = createClient({ baseUrl, token, timeoutMs: 200 })
  await t.rejects(rules.health(), { name: 'ApiError', status: 0, message: 'No token within 200 ms' })
  const reason = new Error('enough')
  const ending = new AbortController()
  const call = rules.health({ signal: ending.signal, timeoutMs: 60_000 })
  setImmediate(() => ending.abort(reason))
  await t.rejects(call, reason)
  t.equal(asked.length, 0)
})

t.test('a fetch that ignores its signal does not keep the call', async (t) => {
  const fetch = () => new Promise<Response>(() => {})
  const { rules } = createClient({ baseUrl: 'http://127.0.0.1:1', fetch, timeoutMs: 100, retries: 1 })
  await t.rejects(rules.health(), { status: 0, message: /within 100 ms/ })
  await t.rejects(rules.health({ timeoutMs: 60_000, signal: AbortSignal.timeout(100) }), {
    name: 'TimeoutError',
  })
})

t.test('while the first request with its key runs, a Retry-After of 0 is no hot loop', async (t) => {
  let count = 0
  const running = new Response('{"error":"Still running"}', { status: 409, headers: { 'retry-after': '0' } })
  const fetch = async () => {
    count++
    return running.clone()
  }
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', fetch, timeoutMs: 1_000 })
  await t.rejects(client.trigger('LEAD_CREATED', {}, { async: true }), still)
  t.ok(count <= 11, `${count} requests in a second`)
})

t.test(
  'while the first request with its key runs, a Retry-After beyond the timeout is an error at once',
  async (t) => {
    for (const seconds of ['61', '3600']) {
      const running = { status: 409, headers: { 'retry-after': seconds }, body: { error: 'Still running' } }
      const { baseUrl, asked } = await openFlakyServer(t, [], running)
      const client = createClient({ baseUrl, timeoutMs: 60_000 })
      const clock = startPatientClock()
      await t.rejects(client.trigger('LEAD_CREATED', {}, { async: true }), still)
      t.ok(clock() < 2_000)
      t.equal(asked.length, 1)
    }
  },
)

t.test('requests that are refused together come back at different times', async (t) => {
  const arrivals: number[] = []
  const refuse = new Response('{}', { status: 429, headers: { 'retry-after': '1' } })
  const fetch = async () => {
    arrivals.push(performance.now())
    return arrivals.length <= 100 ? refuse.clone() : new Response('{}')
  }
  const { rules } = createClient({ baseUrl: 'http://127.0.0.1:1', fetch })
  await Promise.all(Array.from({ length: 100 }, () => rules.health()))
  const second = arrivals.slice(100).sort((one, other) => one - other)
  t.equal(second.length, 100)
  const [tenth = 0, ninetieth = 0] = [second[10], second[90]]
  t.ok(ninetieth - tenth > 550, `80 of 100 within ${Math.round(ninetieth - tenth)} ms`)
})
