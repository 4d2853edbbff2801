import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createClient } from '../src/create-client.js'

/** A server with a bucket of `burst` tokens that gains one every `intervalMs`, and the headers of the API. */
async function openBucket(t: Test, burst: number, intervalMs: number) {
  const counts = { answered: 0, refused: 0 }
  let fullAt = 0
  const server = createServer((_, response) => {
    const now = Date.now()
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
