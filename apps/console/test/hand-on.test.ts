import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { goodToken, openUpstream, signIn, startConsole } from './fixtures/console.js'

t.test('the API gets the token of the session, and nothing else that identifies somebody', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  const response = await console.ask('/api/events?limit=5', {
    headers: {
      cookie: `${cookie}; other=1`,
      authorization: 'Bearer of-somebody-else',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-access-token': 'of-somebody-else',
      'x-workspace-id': 'w1',
      'x-secret': 'inner',
    },
  })
  t.equal(response.statusCode, 200)
  t.same(response.json(), { path: '/api/events?limit=5' })
  t.equal(response.headers['x-ratelimit-remaining'], '42', 'the page sees its limit')
  t.notOk(response.headers['set-cookie'], 'the API sets no cookies of the console')
  t.equal(response.headers['cache-control'], 'no-store')
  const [{ headers } = { headers: {} }] = upstream.arrivals
  t.match(headers, {
    authorization: `Bearer ${goodToken}`,
    'x-workspace-id': 'w1',
    'x-forwarded-for': '127.0.0.1',
  })
  for (const name of ['cookie', 'x-forwarded-access-token', 'x-secret', 'sec-fetch-site', 'origin'])
    t.notOk(name in headers, name)
})

t.test('a body arrives byte for byte, with the headers of the operation', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  const payload = '{ "a":  1.0, "b": "ü" }'
  const headers = { cookie, 'content-type': 'application/json', 'if-match': '"3"', 'idempotency-key': 'k1' }
  await console.ask('/api/automation-rules/x', { method: 'PUT', payload, headers })
  t.match(upstream.arrivals.at(-1), {
    method: 'PUT',
    url: '/api/automation-rules/x',
    body: payload,
    headers: { 'if-match': '"3"', 'idempotency-key': 'k1', 'content-type': 'application/json' },
  })
})

t.test('a response that the API has compressed for the browser is handed back as it came', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  const response = await console.ask('/api/events', { headers: { cookie, 'accept-encoding': 'gzip, br' } })
  t.equal(upstream.arrivals.at(-1)?.headers['accept-encoding'], 'gzip, br')
  t.equal(response.headers['content-encoding'], 'gzip')
  t.same(JSON.parse(gunzipSync(response.rawPayload).toString()), { path: '/api/events' })
  t.same((await console.ask('/api/events', { headers: { cookie } })).json(), { path: '/api/events' })
})

t.test('only paths of the API are handed on, however they are written', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  for (const path of ['/api/../metrics', '/api/%2e%2e/metrics', '/api/x/../../docs', '/api/..%2fmetrics'])
    await console.ask(path, { headers: { cookie } })
  t.same(
    upstream.arrivals.map(({ url }) => url).filter((url) => !url.startsWith('/api/')),
    [],
  )
})

t.test('without a session nothing reaches the API', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const response = await console.ask('/api/events', { headers: { authorization: `Bearer ${goodToken}` } })
  t.equal(response.statusCode, 401)
  t.same(upstream.arrivals, [])
})

t.test('a token that the API refuses ends the session', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console, 'expired')
  const response = await console.ask('/api/events', { headers: { cookie } })
  t.equal(response.statusCode, 401)
  t.match(String(response.headers['set-cookie']), /^rules-console-3003=; .*Max-Age=0/)
})

t.test('while the API is away, the response says so and when to come again', async (t) => {
  const console = await startConsole(t, { CONSOLE_API_URL: 'http://127.0.0.1:1' })
  const cookie = await signIn(console)
  const response = await console.ask('/api/events', { headers: { cookie } })
  t.equal(response.statusCode, 503)
  t.same(response.json(), { error: 'The API does not respond. Try again in a moment.' })
  t.equal(response.headers['retry-after'], '2')
  t.same((await console.ask('/readyz', { headers: { host: '10.0.0.1' } })).json(), {
    status: 'unready',
    api: 'away',
  })
})

t.test('the bearer of a company proxy counts only where it is opted in, and from that proxy', async (t) => {
  const upstream = await openUpstream(t)
  const headers = { 'x-forwarded-access-token': goodToken, 'x-forwarded-for': '203.0.113.7' }
  const trusting = { CONSOLE_TRUST_BEARER: 'true', TRUST_PROXY: '127.0.0.0/8' }
  for (const [env, remoteAddress, status] of [
    [trusting, '127.0.0.1', 200],
    [trusting, '192.0.2.1', 401],
    [{ TRUST_PROXY: '127.0.0.0/8' }, '127.0.0.1', 401],
  ] as const) {
    const { ask } = await startConsole(t, { CONSOLE_API_URL: upstream.url, ...env })
    t.equal((await ask('/api/events', { headers, remoteAddress })).statusCode, status)
  }
})

t.test(
  'the links of decisions need no session, come from anywhere, and get the token of nobody',
  async (t) => {
    const upstream = await openUpstream(t)
    const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
    const cookie = await signIn(console)
    const headers = { cookie, 'sec-fetch-site': 'cross-site', origin: 'null' }
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await console.ask('/decide/w/e/t/approve', { headers })
    t.equal(answer.headers['set-cookie'], undefined, 'a 401 of the API ends no session')
    t.match(answer.headers, { 'cache-control': 'public, max-age=60', 'referrer-policy': 'no-referrer' })
    await console.ask('/decide/w/e/t/approve', { method: 'POST', payload: 'choice=approve', headers: form })
    await console.ask('/decide/../api/events', { headers })
    await console.ask('/decide/%2e%2e/api/events', { headers })
    await console.ask('/decide/w/e/t/approve', { method: 'DELETE', headers })
    t.match(
      upstream.arrivals.map(({ method, url, body }) => ({ method, url, body })),
      [
        { method: 'GET', url: '/decide/w/e/t/approve' },
        { method: 'POST', url: '/decide/w/e/t/approve', body: 'choice=approve' },
      ],
    )
    t.equal(upstream.arrivals.length, 2)
    for (const { headers } of upstream.arrivals)
      for (const name of ['cookie', 'authorization']) t.notOk(name in headers, name)
  },
)
