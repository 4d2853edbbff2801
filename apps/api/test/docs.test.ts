import { once } from 'node:events'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { startApi } from './fixtures/api.js'

const textPaths = ['/docs/rules', '/docs/recipes', '/docs/signing']
const reference = ['/docs/', '/docs/openapi.json', '/docs/openapi.yaml', '/docs/js/scalar.js']
const paths = [...reference, '/docs/rules.schema.json', ...textPaths]
const api = await startApi(t)

t.test('others are served while the pages are rendered', async (t) => {
  const write = api.app.swagger
  t.teardown(() => Object.assign(api.app, { swagger: write }))
  Object.assign(api.app, { swagger: () => t.fail('the document is made in this process') })
  const before = performance.eventLoopUtilization()
  t.equal((await api.app.inject('/docs/')).statusCode, 200)
  const { utilization } = performance.eventLoopUtilization(before)
  t.comment(`the event loop was busy for ${Math.round(100 * utilization)} % of the time`)
  t.ok(utilization < 0.35, 'a thread renders them')
})

t.test(
  'each page is rendered once, may be cached, and is not sent again to a client that has it',
  async (t) => {
    for (const path of paths) {
      const first = await api.app.inject(path)
      t.equal(first.statusCode, 200, path)
      const { etag } = first.headers
      t.match(etag, /^"[\w-]{43}"$/)
      t.match(first.headers, { 'cache-control': 'public, max-age=300' })
      for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await api.app.inject({ url: path, headers: { 'if-none-match': header } })
        t.strictSame(
          [again.statusCode, again.payload, again.headers.etag],
          [304, '', etag],
          `${path} ${header}`,
        )
        t.match(again.headers, { 'cache-control': 'public, max-age=300' })
      }
      const other = await api.app.inject({ url: path, headers: { 'if-none-match': '"other"' } })
      t.strictSame([other.statusCode, other.rawPayload.equals(first.rawPayload)], [200, true])
      const head = await api.app.inject({ method: 'HEAD', url: path })
      t.strictSame([head.statusCode, head.payload, head.headers.etag], [200, '', etag])
    }
  },
)

t.test('the document is that of the routes', async (t) => {
  const { payload } = await api.app.inject('/docs/openapi.json')
  t.strictSame(JSON.parse(payload), JSON.parse(JSON.stringify(api.app.swagger())))
})

t.test('a page is sent compressed to a client that accepts gzip', async (t) => {
  for (const path of paths) {
    const plain = await api.app.inject(path)
    const get = (encoding: string, etag = '') =>
      api.app.inject({ url: path, headers: { 'accept-encoding': encoding, 'if-none-match': etag } })
    const compressed = await get('gzip, deflate, br')
    t.match(compressed.headers, { 'content-encoding': 'gzip', vary: 'accept-encoding' }, path)
    t.ok(gunzipSync(compressed.rawPayload).equals(plain.rawPayload), path)
    t.not(compressed.headers.etag, plain.headers.etag, 'each representation has its own tag')
    t.equal((await get('gzip', compressed.headers.etag)).statusCode, 304)
    t.equal((await get('gzip', plain.headers.etag)).statusCode, 200)
    for (const encoding of ['', 'br', 'gzip;q=0', 'gzip; q=0.0, br'])
      t.equal((await get(encoding)).headers['content-encoding'], undefined, encoding)
    t.equal((await get('br, gzip;q=0.5')).headers['content-encoding'], 'gzip')
  }
  const sizes = await Promise.all(
    paths.slice(0, 4).map((url) => api.app.inject({ url, headers: { 'accept-encoding': 'gzip' } })),
  )
  const bytes = sizes.reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)
  t.comment(`the reference has ${bytes} bytes`)
  t.ok(bytes < 1_150_000, 'a visitor at 10 Mbit/s waits for a second')
})

t.test('the root leads to the documentation', async (t) => {
  const { statusCode, headers } = await api.app.inject('/')
  t.strictSame([statusCode, headers.location], [302, 'docs/'])
  const { statusCode: other } = await api.app.inject({ method: 'POST', url: '/' })
  t.equal(other, 405)
})

t.test('the pages for authors of rules load nothing, and their links lead to something', async (t) => {
  for (const path of textPaths) {
    const { payload, headers } = await api.app.inject(path)
    t.match(headers['content-type'], /^text\/html; charset=utf-8/)
    t.match(payload, /<h1 id=/)
    t.match(payload, '<table>')
    t.notMatch(payload, /<(script|img|link|iframe)\b|generated:|url\(/)
    for (const [, href = ''] of payload.matchAll(/ href="([^"]+)"/g)) {
      if (href.startsWith('http')) continue
      const { pathname, hash } = new URL(href, `http://localhost${path}`)
      const target = await api.app.inject(pathname)
      t.equal(target.statusCode, 200, href)
      if (hash) t.match(target.payload, `id="${hash.slice(1)}"`, href)
    }
  }
})

t.test('a request costs what its bytes cost', async (t) => {
  await api.app.inject('/docs/')
  const document = t.intercept(api.app, 'swagger', {
    value: () => t.fail('The document was made again'),
  })
  const before = process.cpuUsage()
  for (let count = 0; count < 50; count++)
    t.equal((await api.app.inject('/docs/openapi.yaml')).statusCode, 200)
  const { user, system } = process.cpuUsage(before)
  // To write the YAML anew took a tenth of a second each time.
  t.ok((user + system) / 1_000 / 50 < 40, `${(user + system) / 1_000 / 50} ms each`)
  t.strictSame(document(), [])
})

t.test('a person who opens the page is not refused, and a client with many requests is', async (t) => {
  // The burst of the default. No token returns meanwhile, however busy the machine is.
  const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/15' })
  const get = (url: string, remoteAddress: string) => limited.app.inject({ url, remoteAddress })
  const opened = await get('/docs', '203.0.113.1')
  t.match(opened, { statusCode: 301, headers: { location: '/docs/', 'x-ratelimit-limit': '15' } })
  const page = await get('/docs/', '203.0.113.1')
  t.equal(page.statusCode, 200)
  const script = /<script src="([^"]+)"/.exec(page.payload)?.[1]
  const document = /"url": "([^"]+)"/.exec(page.payload)?.[1]
  for (const name of [script, document]) {
    const { pathname } = new URL(String(name), 'http://localhost/docs/')
    t.equal((await get(pathname, '203.0.113.1')).statusCode, 200, pathname)
  }
  t.equal((await get('/favicon.ico', '203.0.113.1')).statusCode, 404, 'which a browser requests')
  t.match((await get('/docs/', '203.0.113.1')).headers, { 'x-ratelimit-remaining': '9' })

  const path = ['/docs', ...paths]
  for (let count = 0; count < 15; count++)
    t.ok((await get(path[count % path.length] ?? '', '203.0.113.2')).statusCode < 400)
  for (const one of path) {
    const { statusCode, headers, payload } = await get(one, '203.0.113.2')
    t.strictSame([statusCode, JSON.parse(payload)], [429, { error: 'Rate limit exceeded' }], one)
    t.match(headers, { 'retry-after': /^\d+$/, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': /^\d+$/ })
    t.equal(headers['cache-control'], undefined, 'a refusal is not cached')
  }
  t.equal((await get('/docs/', '203.0.113.3')).statusCode, 200, 'others have buckets of their own')
})

t.test('no Host makes it fail', async (t) => {
  const { app } = await startApi(t)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  async function ask(request: string): Promise<string> {
    const socket = connect(Number(port), '127.0.0.1')
    let head = ''
    socket.setEncoding('latin1').on('data', (text) => (head = (head + text).slice(0, 200)))
    socket.write(request)
    await once(socket, 'close')
    return head.split('\r\n', 1)[0] ?? ''
  }
  const hosts = ['[', ']', '[::1', 'a b', 'a:b:c', ':', '%00', '@', '//', '\u00ff', ' ', 'x'.repeat(4_000)]
  for (const path of ['/docs', '/docs?a', '/docs/', ...paths.slice(1)]) {
    const expected = path.startsWith('/docs/') ? ' 200 ' : ' 301 '
    t.match(await ask(`GET ${path} HTTP/1.0\r\n\r\n`), expected, `${path} by HTTP/1.0 without Host`)
    for (const host of hosts) {
      const line = await ask(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
      t.match(line, / (200|301|400) /, `${path}, Host ${host.slice(0, 9)}`)
    }
  }
})
