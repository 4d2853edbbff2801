import t from 'tap'
import { openUpstream, signIn, startConsole } from './fixtures/console.js'

t.test('a write passes only from the page itself: 5 methods, 6 origins and 5 hosts', async (t) => {
  const upstream = await openUpstream(t)
  const { app, ...console } = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn({ app, ...console })
  const origins: Record<string, string>[] = [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:3003' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://127.0.0.1:5173' },
    {},
  ]
  const hosts = ['127.0.0.1:3003', 'localhost:3003', 'evil.example', '127.0.0.1:5173', '127.0.0.1']
  const passed: string[] = []
  let cases = 0
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)
    for (const origin of origins)
      for (const host of hosts)
        for (const url of ['/api/automation-rules', '/session']) {
          cases++
          const { statusCode } = await app.inject({ method, url, headers: { cookie, host, ...origin } })
          if (![403, 421].includes(statusCode)) passed.push(`${JSON.stringify(origin)} ${host}`)
        }
  t.comment(`${cases} cases`)
  t.strictSame([...new Set(passed)], ['{"sec-fetch-site":"same-origin"} 127.0.0.1:3003'])
})

t.test('a browser without Sec-Fetch-Site may write with the Origin of the console', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  const headers = { cookie, host: '127.0.0.1:3003', origin: 'http://127.0.0.1:3003' }
  const { statusCode } = await console.app.inject({ method: 'POST', url: '/api/x', headers, payload: {} })
  t.equal(statusCode, 200)
})

t.test('another site cannot read with the session either', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  for (const site of ['cross-site', 'same-site'])
    t.equal(
      (await console.ask('/api/events', { headers: { cookie, 'sec-fetch-site': site } })).statusCode,
      403,
    )
  t.same(upstream.arrivals, [])
})

t.test('every response forbids foreign content, frames and inline script', async (t) => {
  const { ask } = await startConsole(t)
  for (const [path, host] of [
    ['/', '127.0.0.1:3003'],
    ['/w/x/today', '127.0.0.1:3003'],
    ['/theme.js', '127.0.0.1:3003'],
    ['/session', '127.0.0.1:3003'],
    ['/api/x', '127.0.0.1:3003'],
    ['/nothing', '127.0.0.1:3003'],
    ['/', 'evil.example'],
    ['/healthz', '10.0.0.1'],
  ] as const) {
    const { headers } = await ask(path, { headers: { host } })
    t.match(
      headers,
      {
        'content-security-policy':
          /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      },
      path,
    )
    t.notMatch(String(headers['content-security-policy']), 'unsafe')
  }
  t.equal((await ask('/w/x/today')).headers['cache-control'], 'no-cache')
})
