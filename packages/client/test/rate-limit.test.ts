import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startPatientClock } from '@automation/launcher/patient-clock'
import t, { type Test } from 'tap'
import { createClient } from '../src/create-client.js'

/** A server with a bucket of `burst` tokens that gains one every `intervalMs`, and the headers of the API. */
async function openBucket(t: Test, burst: number, intervalMs: number) {
  const counts = { answered: 0, refused: 0 }
  let fullAt = 0
  const server = createServer((_, response) => {
    // Not the clock of the day, which a test sets back.
    const now = performance.now()
    const next = Math.max(fullAt, now) + intervalMs
    const room = now + intervalMs * burst - next
    if (room >= 0) fullAt = next
    counts[room < 0 ? 'refused' : 'answered']++
    const headers: Record<string, number> = {
      'x-ratelimit-limit': burst,
      'x-ratelimit-remaining': Math.max(0, Math.floor(room / intervalMs)),
      'x-ratelimit-reset': Math.ceil((fullAt - now) / 1_000),
    }
    if (room < 0) headers['retry-after'] = Math.max(1, Math.ceil(-room / 1_000))
    response.writeHead(room < 0 ? 429 : 200, headers)
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts }
}

t.test('the client remembers the state of the bucket', async (t) => {
  const { baseUrl } = await openBucket(t, 100, 1_000)
  const client = createClient({ baseUrl })
  t.equal(client.rateLimit, undefined)
  await client.rules.health()
  await client.rules.health()
  t.match(client.rateLimit, { limit: 100, remaining: 98, resetSeconds: 2 })
})

t.test('a client with keepsPace is never refused, however many requests it sends', async (t) => {
  const { baseUrl, counts } = await openBucket(t, 20, 50)
  const client = createClient({ baseUrl, keepsPace: true })
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: 50 }, () => client.rules.health()))
  t.same(counts, { answered: 50, refused: 0 })
  const ms = performance.now() - startedAt
  t.ok(ms > 29 * 50, 'it waited for the missing tokens')
  t.comment(`${Math.round(ms)} ms, where ${30 * 50} were needed`)
})

t.test('a client without keepsPace is refused, and succeeds by retries', async (t) => {
  const { baseUrl, counts } = await openBucket(t, 5, 100)
  const client = createClient({ baseUrl })
  await Promise.all(Array.from({ length: 10 }, () => client.rules.health()))
  t.equal(counts.answered, 10)
  t.ok(counts.refused > 0)
})

t.test('a request that is aborted while it waits delays no other', async (t) => {
  const { baseUrl } = await openBucket(t, 1, 500)
  const client = createClient({ baseUrl, keepsPace: true })
  await client.rules.health()
  const ending = new AbortController()
  const given = client.rules.health({ signal: ending.signal })
  const next = client.rules.health()
  ending.abort(new Error('enough'))
  await t.rejects(given, { message: 'enough' })
  await next
})

t.test('a request that is aborted in the line ends at once', async (t) => {
  const { baseUrl } = await openBucket(t, 1, 60_000)
  const client = createClient({ baseUrl, keepsPace: true })
  await client.rules.health()
  const first = new AbortController()
  const waiting = client.rules.health({ signal: first.signal }).catch((error: unknown) => error)
  const clock = startPatientClock()
  await t.rejects(client.rules.health({ signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' })
  t.ok(clock() < 5_000)
  first.abort(new Error('enough'))
  t.match(await waiting, { message: 'enough' })
})

t.test('a clock that is set back by an hour delays nobody', async (t) => {
  const { baseUrl, counts } = await openBucket(t, 20, 20)
  const client = createClient({ baseUrl, keepsPace: true })
  const signal = AbortSignal.timeout(60_000)
  await Promise.all(Array.from({ length: 20 }, () => client.rules.health({ signal })))
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() - 3_600_000
  await Promise.all(Array.from({ length: 5 }, () => client.rules.health({ signal })))
  t.same(counts, { answered: 25, refused: 0 })
})

t.test('an API without X-RateLimit headers, or with those of others, is not paced', async (t) => {
  const foreign = {
    'x-ratelimit-limit': '100',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '1789000000',
  }
  for (const headers of [{}, foreign]) {
    let together = 0
    let most = 0
    const fetch = async () => {
      most = Math.max(most, ++together)
      await new Promise((resolve) => setTimeout(resolve, 100))
      together--
      return new Response('{}', { headers })
    }
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', fetch, keepsPace: true })
    const signal = AbortSignal.timeout(60_000)
    await Promise.all(Array.from({ length: 20 }, () => client.rules.health({ signal })))
    t.equal(most, 19, 'all but the first')
  }
})

t.test('webhooks and probes do not use up the pace of the caller', async (t) => {
  const headers = (remaining: number) => ({
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': `${remaining}`,
    'x-ratelimit-reset': '600',
  })
  const fetch: typeof globalThis.fetch = async (url) => {
    if (`${url}`.endsWith('/healthz')) return new Response('{}')
    return new Response('{}', { headers: headers(`${url}`.includes('webhooks') ? 0 : 9) })
  }
  const baseUrl = 'http://127.0.0.1:1'
  const client = createClient({ baseUrl, fetch, keepsPace: true, workspaceId: 'w' })
  const webhook = { provider: 'p', id: 'e1', body: {}, secretId: 's', secret: 'whsec_c2VjcmV0' }
  await client.rules.health()
  await client.webhooks.deliver(webhook)
  const signal = AbortSignal.timeout(60_000)
  await client.rules.health({ signal })
  await client.probes.live({ signal })
  await t.rejects(client.webhooks.deliver(webhook, { signal: AbortSignal.timeout(200) }), {
    name: 'TimeoutError',
  })
})

t.test('a batch waits for as many tokens as it takes', async (t) => {
  let left = 10
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { events } = JSON.parse(`${init?.body}`) as { events: unknown[] }
    const tokens = Math.ceil(events.length / 50)
    const isRefused = tokens > left
    if (!isRefused) left -= tokens
    const body = { accepted: 0, results: events.map(() => ({ status: 'accepted' })) }
    return new Response(JSON.stringify(body), {
      status: isRefused ? 429 : 202,
      headers: {
        'x-ratelimit-limit': '10',
        'x-ratelimit-remaining': `${left}`,
        'x-ratelimit-reset': `${10 - left}`,
      },
    })
  }
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', fetch, keepsPace: true, retries: 0 })
  const events = Array.from({ length: 400 }, () => ({ data: {} }))
  await client.triggerBatch('LEAD_CREATED', events)
  t.equal(left, 2)
  const second = client.triggerBatch('LEAD_CREATED', events, { signal: AbortSignal.timeout(200) })
  await t.rejects(second, { name: 'BatchError', status: 0 }, 'it is not sent, since 8 tokens are missing')
  t.equal(left, 2)
})

t.test('batches one after another give back all tokens that they took', async (t) => {
  const full = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '10', 'x-ratelimit-reset': '0' }
  let batches = 0
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { events } = JSON.parse(`${init?.body}`) as { events: unknown[] }
    batches++
    const body = { accepted: 0, results: events.map(() => ({ status: 'accepted' })) }
    return new Response(JSON.stringify(body), { status: 202, headers: full })
  }
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', fetch, keepsPace: true, retries: 0 })
  const events = Array.from({ length: 400 }, () => ({ data: {} }))
  const signal = AbortSignal.timeout(10_000)
  for (let count = 0; count < 3; count++) await client.triggerBatch('LEAD_CREATED', events, { signal })
  t.equal(batches, 3)
})
