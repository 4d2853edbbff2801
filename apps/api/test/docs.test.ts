import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { type Docs, shortAddresses } from '../src/docs/docs-pages.js'
import { renderDocs } from '../src/docs/render-docs.js'
import { startApi } from './fixtures/api.js'

const reference = ['/docs/api/', '/docs/openapi.json', '/docs/openapi.yaml', '/docs/api/js/scalar.js']
const paths = [
  ...reference,
  ...[
    '/docs/',
    '/docs/rules.schema.json',
    '/docs/reference/rules',
    '/docs/guides/recipes.md',
    '/docs/llms.txt',
  ],
]
const api = await startApi(t)
/** As long as no site is built. */
const plain = await renderDocs(pathToFileURL(t.testdir({})))
const textOf = (path: string, { pages }: Docs = plain) => pages[path]?.plain.body.toString() ?? ''

t.test('others are served while the pages are rendered', async (t) => {
  const write = api.app.swagger
  t.teardown(() => Object.assign(api.app, { swagger: write }))
  Object.assign(api.app, { swagger: () => t.fail('the document is made in this process') })
  const before = performance.eventLoopUtilization()
  t.equal((await api.app.inject('/docs/api/')).statusCode, 200)
  const { utilization } = performance.eventLoopUtilization(before)
  t.comment(`the event loop was busy for ${Math.round(100 * utilization)} % of the time`)
  t.ok(utilization < 0.35, 'a thread renders them')
})

t.test('who waits until the pages are rendered is not refused, however long it takes', async (t) => {
  const { app } = await startApi(t)
  const now = performance.now.bind(performance)
  // Each ms is a second, so that the deadline of a request is over before its timer first looks.
  t.intercept(performance, 'now', { value: () => 1_000 * now() })
  t.equal((await app.inject('/docs/')).statusCode, 200)
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
    reference.map((url) => api.app.inject({ url, headers: { 'accept-encoding': 'gzip' } })),
  )
  const bytes = sizes.reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)
  t.comment(`the reference has ${bytes} bytes`)
  t.ok(bytes <= 10_000_000 / 8, 'a visitor at 10 Mbit/s waits for a second')
})

t.test('the root leads to the documentation', async (t) => {
  const { statusCode, headers } = await api.app.inject('/')
  t.strictSame([statusCode, headers.location], [302, 'docs/'])
  t.match((await api.app.inject('/docs')).payload, 'See /docs/', 'curl follows nothing by itself')
  const { statusCode: other } = await api.app.inject({ method: 'POST', url: '/' })
  t.equal(other, 405)
})

t.test(
  'plain pages load nothing, list all others, and their links and anchors lead to something',
  async (t) => {
    const htmlPaths = Object.keys(plain.pages).filter(
      (path) => /\/[\w-]*$/.test(path) && path !== '/docs/api/',
    )
    t.ok(htmlPaths.length > 20, `${htmlPaths.length} pages`)
    const pages = [
      ...htmlPaths.map((path) => [path, textOf(path)]),
      ['/docs/none', plain.missing.plain.body.toString()],
    ]
    for (const [path = '', text = ''] of pages) {
      t.match(text, /<h1 id=/, path)
      t.notMatch(text, /<(script|link|iframe)\b|generated:|url\(/, path)
      for (const [, target = ''] of text.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        if (/^\w+:/.test(target)) continue
        const { pathname, hash } = new URL(target, `http://localhost${path}`)
        const found = textOf(pathname)
        t.ok(found, `${path}: ${target}`)
        if (hash) t.match(found, `id="${hash.slice(1)}"`, `${path}: ${target}`)
      }
    }
  },
)

t.test('the links of pages that are read as Markdown lead to something', async (t) => {
  const names = Object.keys(plain.pages).filter((path) => path.endsWith('.md'))
  for (const name of names)
    for (const [, target = ''] of textOf(name).matchAll(/\]\((\/[^)#\s]+)/g))
      t.ok(target.replace(/^\/docs$/, '/docs/') in plain.pages, `${name}: ${target}`)
})

t.test('the reference leads back to the pages, also before its script has come', async (t) => {
  const page = textOf('/docs/api/')
  t.match(page, '<nav><a href="../">← Documentation</a></nav>')
  t.match(page, '<div id="app"><p>The API reference is loading.')
  t.match(page, '"url": "../openapi.json"')
})

t.test('each address of a page that the product prints leads to its part', async (t) => {
  const root = new URL('../../../../', import.meta.url)
  let count = 0
  for (const place of ['apps', 'packages', 'docs/openapi.json', 'docs/alerts.yml', 'docs/grafana'])
    for (const file of await listSources(fileURLToPath(new URL(place, root)))) {
      const printed = (await readFile(file, 'utf8')).matchAll(
        /(?<![\w.}/])\/docs(\/[\w./-]*)?(#[\w-]+)?(?=[`'")>\s;])/g,
      )
      for (const [address, , anchor] of printed) {
        const { pathname } = new URL(address.replace(/\.$/, ''), 'http://localhost')
        const path = shortAddresses[pathname] ?? pathname.replace(/^\/docs$/, '/docs/')
        t.ok(path in plain.pages, `${file}: ${address}`)
        if (anchor) t.match(textOf(path), `id="${anchor.slice(1)}"`, `${file}: ${address}`)
        count++
      }
    }
  t.ok(count > 15, `${count} addresses`)
})

t.test('a site that was built is served as it is, beside the reference', async (t) => {
  const site = t.testdir({
    'index.html': 'start',
    '404.html': 'none',
    reference: { 'rules.html': 'rules' },
    assets: { 'a.1.js': 'script' },
    'not-served.exe': '',
  })
  const docs = await renderDocs(pathToFileURL(`${site}/`))
  t.equal(textOf('/docs/', docs), 'start')
  t.equal(textOf('/docs/reference/rules', docs), 'rules')
  t.equal(docs.missing.plain.body.toString(), 'none')
  t.match(docs.pages['/docs/assets/a.1.js']?.plain.headers, { 'cache-control': /immutable/ })
  t.match(docs.pages['/docs/']?.plain.headers, { 'cache-control': 'public, max-age=300' })
  t.notOk('/docs/not-served.exe' in docs.pages)
  for (const path of [
    ...reference,
    '/docs/llms.txt',
    '/docs/reference/rules.md',
    '/docs/images/console-rule.png',
  ])
    t.ok(path in docs.pages, path)
})

t.test('an unknown page says so and leads on, and other ways to write an address lead to it', async (t) => {
  for (const path of ['/docs/none', '/docs/a/b/c', '/docs/a/', '/docs/pages.json', '/docs/__proto__']) {
    const { statusCode, payload, headers } = await api.app.inject(path)
    t.equal(statusCode, 404, path)
    t.match(payload, /There is no such page/, path)
    t.notOk(headers.etag)
  }
  for (const [path, to] of [
    ['/docs/rules', '/docs/reference/rules'],
    ['/docs/reference/rules/', '/docs/reference/rules'],
    ['/docs/reference/rules.html', '/docs/reference/rules'],
    ['/docs/index.html', '/docs/'],
    ['/docs/api', '/docs/api/'],
  ] as const) {
    const { statusCode, headers } = await api.app.inject(path)
    t.strictSame([statusCode, headers.location], [301, to], path)
  }
  t.equal((await api.app.inject({ method: 'POST', url: '/docs/reference/rules' })).statusCode, 405)
})

t.test('llms.txt lists each page with a sentence', async (t) => {
  const lines = textOf('/docs/llms.txt')
    .split('\n')
    .filter((line) => line.startsWith('- '))
  t.ok(lines.length > 20)
  for (const line of lines) {
    const [, path = ''] = /^- \[[^\]]+\]\(([^)]+)\): \S.{10,}/.exec(line) ?? []
    t.ok(path in plain.pages, line)
    t.notMatch(line, '```', 'code is no sentence')
  }
  t.match(await api.app.inject('/llms.txt'), { statusCode: 302, headers: { location: 'docs/llms.txt' } })
})

t.test('a request costs what its bytes cost', async (t) => {
  await api.app.inject('/docs/api/')
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

t.test(
  'a reader is not refused, and a client with many requests is; who signs in from there is not',
  async (t) => {
    // The documentation has ten times of both: a token returns after 6 s, as it may on a busy machine.
    const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/15' })
    const get = (url: string, remoteAddress: string) => limited.app.inject({ url, remoteAddress })
    const opened = await get('/docs', '203.0.113.1')
    t.match(opened, { statusCode: 301, headers: { location: '/docs/', 'x-ratelimit-limit': '150' } })
    const page = await get('/docs/api/', '203.0.113.1')
    t.equal(page.statusCode, 200)
    const script = /<script src="([^"]+)"/.exec(page.payload)?.[1]
    const { pathname } = new URL(String(script), 'http://localhost/docs/api/')
    t.equal((await get(pathname, '203.0.113.1')).statusCode, 200, pathname)
    const left = Number((await get('/docs/', '203.0.113.1')).headers['x-ratelimit-remaining'])
    t.ok(left >= 146 && left < 150, `${left} tokens are left after four requests`)
    t.match((await get('/api/me', '203.0.113.1')).headers, { 'x-ratelimit-remaining': '14' })

    const path = ['/docs', '/docs/none', ...paths]
    const since = performance.now()
    let granted = 0
    while (granted < 300 && (await get(path[granted % path.length] ?? '', '203.0.113.2')).statusCode < 405)
      granted++
    const returned = Math.ceil((performance.now() - since) / 6_000)
    t.ok(granted >= 150 && granted <= 150 + returned, `${granted} were granted`)
    for (const one of path) {
      let refused = await get(one, '203.0.113.2')
      // A token has returned meanwhile.
      if (refused.statusCode < 405) refused = await get(one, '203.0.113.2')
      const { statusCode, headers, payload } = refused
      t.strictSame([statusCode, JSON.parse(payload)], [429, { error: 'Rate limit exceeded' }], one)
      t.match(headers, { 'retry-after': /^\d+$/, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': /^\d+$/ })
      t.equal(headers['cache-control'], undefined, 'a refusal is not cached')
    }
    t.equal(
      (await get('/api/me', '203.0.113.2')).statusCode,
      401,
      'readers take nothing from those who sign in',
    )
    t.equal((await get('/docs/', '203.0.113.3')).statusCode, 200, 'others have buckets of their own')
  },
)

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
  for (const path of ['/docs', '/docs?a', ...paths]) {
    const expected = path.startsWith('/docs/') ? ' 200 ' : ' 301 '
    t.match(await ask(`GET ${path} HTTP/1.0\r\n\r\n`), expected, `${path} by HTTP/1.0 without Host`)
    for (const host of hosts) {
      const line = await ask(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
      t.match(line, / (200|301|400) /, `${path}, Host ${host.slice(0, 9)}`)
    }
  }
})

/** A file, or the programs of a directory that are not tests. */
async function listSources(place: string): Promise<string[]> {
  if (/\.\w+$/.test(place)) return [place]
  const names = await readdir(place, { recursive: true })
  return names
    .filter(
      (name) =>
        /\.(tsx?|mjs|json)$/.test(name) && !/(^|\/)(node_modules|dist|test|generated|docs)\//.test(name),
    )
    .filter((name) => !/recordings\.json$|plugins\/docs\.ts$/.test(name))
    .map((name) => `${place}/${name}`)
}
