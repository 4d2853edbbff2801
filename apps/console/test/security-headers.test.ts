import t from 'tap'
import { openApiInTrouble } from './fixtures/api-in-trouble.js'
import { openUpstream, signIn, startConsole } from './fixtures/console.js'
import { settingsOf } from './fixtures/provider.js'

/** The routes of a tree as Fastify prints it, with the methods of each. */
function listRoutes(tree: string): { method: string; path: string }[] {
  const parents: string[] = []
  return tree.split('\n').flatMap((line) => {
    const found = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line)
    if (!found) return []
    const [, indent = '', part = '', methods] = found
    const depth = indent.length / 4
    parents.length = depth
    const path = parents.join('') + part
    parents.push(part)
    return methods ? methods.split(', ').map((method) => ({ method, path: path.replace('*', 'x') })) : []
  })
}

const expected = {
  'content-security-policy':
    /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': /camera=\(\)/,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

t.test('every route has all security headers, signed in or not, and under a wrong Host', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf('http://127.0.0.1:1', upstream.url))
  const routes = listRoutes(console.app.printRoutes())
  const paths = new Set(routes.map(({ path }) => path))
  for (const path of [
    '/session',
    '/session/link',
    '/session/token',
    '/session/oidc/callback',
    '/api/x',
    '/w/x',
    '/healthz',
  ])
    t.ok(paths.has(path), `${path} is among ${paths.size} routes`)
  for (const { method, path } of routes) {
    const cookie = await signIn(console)
    for (const headers of [{}, { cookie }, { cookie, host: 'evil.example' }]) {
      const response = await console.ask(path, { method: method as 'GET', headers })
      const what = `${method} ${path} ${Object.keys(headers).join(' ')}: ${response.statusCode}`
      const ofAnySite = path === '/embed.js' && { 'cross-origin-resource-policy': 'cross-origin' }
      t.match(response.headers, { ...expected, ...ofAnySite }, what)
      t.notMatch(String(response.headers['content-security-policy']), /unsafe/, what)
      const isFile = path === '/x' || path === '/' || path === '/embed.js'
      const caching = String(response.headers['cache-control'])
      if (path.startsWith('/api/') || path.startsWith('/session')) t.equal(caching, 'no-store', what)
      // The API says what of its pages may be kept: the style of the page of a decision, and never the page.
      else if (path.startsWith('/decide/') && response.statusCode !== 421)
        t.match(caching, /max-age=60|no-store/, what)
      else t.match(caching, isFile ? /no-cache|no-store|immutable/ : /no-cache|no-store/, what)
      for (const one of [response.headers['set-cookie'] ?? []].flat())
        t.match(one, /; HttpOnly; SameSite=(Strict|Lax)$/, what)
    }
  }
})

t.test(
  'pages of other sites load the element, which is asked for each time, and no other file',
  async (t) => {
    const { ask } = await startConsole(t)
    const site = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com' }
    for (const encoding of ['identity', 'gzip', 'br']) {
      const headers = { ...site, 'accept-encoding': encoding }
      t.match(
        await ask('/embed.js', { headers }),
        {
          statusCode: 200,
          headers: {
            ...expected,
            'content-type': /javascript/,
            'cross-origin-resource-policy': 'cross-origin',
            'access-control-allow-origin': '*',
            'cache-control': 'no-cache',
            etag: /./,
          },
        },
        encoding,
      )
      const other = await ask('/theme.js', { headers })
      t.match(other, { statusCode: 200, headers: { ...expected, 'access-control-allow-origin': undefined } })
    }
    for (const path of ['/embed.jsx', '/embed', '/assets/embed.js'])
      t.match((await ask(path, { headers: site })).headers, expected, path)
  },
)

t.test('an error has them, too: a wrong URL, a wrong body, a wrong type', async (t) => {
  const { ask } = await startConsole(t)
  const post = { method: 'POST' } as const
  for (const [status, path, options] of [
    [400, '/%E0', {}],
    [400, '/w/%E0', {}],
    [400, '/api/%E0', {}],
    [404, '/nothing', {}],
    [400, '/session/link', { ...post, payload: {} }],
    [415, '/session/link', { ...post, payload: 'x', headers: { 'content-type': 'text/plain' } }],
    [413, '/session/link', { ...post, payload: { key: 'x'.repeat(20_000) } }],
  ] as const) {
    const response = await ask(path, options)
    t.equal(response.statusCode, status, path)
    t.match(response.headers, { ...expected, 'cache-control': 'no-store' }, path)
    t.type(response.json().error, 'string')
  }
})

t.test('the caching of the API is not handed on, nor what belongs to its connections', async (t) => {
  const api = await openApiInTrouble(t, (_request, response) =>
    response
      .writeHead(200, { 'cache-control': 'public, max-age=300', 'keep-alive': 'timeout=72', etag: '"1"' })
      .end('{}'),
  )
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  const { headers } = await console.ask('/api/vocabulary', { headers: { cookie: await signIn(console) } })
  t.equal(headers['cache-control'], 'no-store')
  t.equal(headers.etag, '"1"')
  t.notOk(headers['keep-alive'])
})

t.test('under https every cookie is Secure with the prefix __Host-', async (t) => {
  const console = await startConsole(t, { CONSOLE_URL: 'https://console.example' })
  const out = await console.ask('/session', { method: 'DELETE', headers: { host: 'console.example' } })
  t.match(String(out.headers['set-cookie']), /^__Host-rules-console-443=; Path=\/; .*; Secure$/)
  t.match(out.headers, { ...expected, 'strict-transport-security': 'max-age=31536000' })
})
