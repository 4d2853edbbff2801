import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import { openApiInTrouble, until } from '../fixtures/api-in-trouble.js'
import { openUpstream, startConsole } from '../fixtures/console.js'

const linkOf = (workspace: string) => `/decide/${workspace}/e/t/approve`
const link = linkOf('w')
const headers = { 'content-type': 'application/x-www-form-urlencoded' }

t.test('a form that does not end takes no slot of others, and no page', async (t) => {
  const upstream = await openUpstream(t)
  const { app, ask } = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  let arrived = 0
  app.server.on('request', () => void arrived++)
  const slow = Array.from({ length: 60 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST ${link} HTTP/1.1\r\nhost: 127.0.0.1:3003\r\ncontent-type: ${headers['content-type']}\r\ncontent-length: 10000\r\n\r\npa`,
    )
    return socket
  })
  t.teardown(() => slow.map((socket) => socket.destroy()))
  await until(() => arrived === slow.length)
  const answer = await ask(link, { method: 'POST', payload: 'choice=approve', headers })
  t.match(answer, { statusCode: 401 }, 'the API has responded')
  t.strictSame(
    upstream.arrivals.map(({ url, body }) => [url, body]),
    [[link, 'choice=approve']],
  )
})

t.test('an address has 64 forms that have not arrived, and all together have 1,024', async (t) => {
  const upstream = await openUpstream(t)
  const { ask } = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const forms: Readable[] = []
  t.teardown(() => forms.map((form) => form.destroy()))
  const begin = (remoteAddress: string, count: number) => {
    for (let n = 0; n < count; n++) {
      const payload = new Readable({ read: () => {} })
      payload.push('choice=')
      forms.push(payload)
      void ask(link, { method: 'POST', payload, headers, remoteAddress }).catch(() => {})
    }
  }
  const send = (remoteAddress: string, method: 'GET' | 'POST' = 'POST') =>
    ask(link, { method, ...(method === 'POST' && { payload: 'choice=approve', headers }), remoteAddress })
  begin('10.0.0.1', 64)
  const many = await send('10.0.0.1')
  t.match(many, {
    statusCode: 429,
    headers: { 'retry-after': '1', connection: 'close', 'content-type': /^text\/html/ },
    payload: /too many requests from your network/,
  })
  t.match(await send('10.0.0.1', 'GET'), { statusCode: 401 }, 'the page itself is not a form')
  t.match(await send('10.0.0.2'), { statusCode: 401 }, 'the API has responded')
  for (let network = 2; network <= 16; network++) begin(`2001:db8:0:${network}::1`, 64)
  t.match(await send('10.0.0.2'), { statusCode: 503, payload: /Too many people decide at the moment/ })
  t.equal(upstream.arrivals.length, 2, 'no form has arrived')
  forms[0]?.push(null)
  await until(() => upstream.arrivals.length === 3)
  t.match(await send('10.0.0.1'), { statusCode: 401 }, 'what has arrived gives its place back')
  forms[1]?.destroy()
  t.match(await send('10.0.0.1'), { statusCode: 401 }, 'and so does what has left')
})

t.test('an address has 32 slots, and a /64 of IPv6 is one address; who finds none gets a page', async (t) => {
  const api = await openApiInTrouble(t)
  const { ask } = await startConsole(t, { CONSOLE_API_URL: api.url })
  const hold = async (remoteAddressOf: (n: number) => string, count: number) => {
    const before = api.count()
    for (let n = 0; n < count; n++)
      void ask(linkOf(`${remoteAddressOf(0)}-${n >> 3}`), { remoteAddress: remoteAddressOf(n) }).catch(
        () => {},
      )
    await until(() => api.count() === before + count)
  }
  await hold((n) => `2001:db8::${n + 1}`, 32)
  const many = await ask(link, { remoteAddress: '2001:db8::ffff' })
  t.match(many, { statusCode: 429, headers: { 'retry-after': '1', 'content-type': /^text\/html/ } })
  t.match(many.payload, 'There are too many requests from your network.')
  await hold(() => '10.0.0.1', 32)
  const full = await ask(link, { remoteAddress: '10.0.0.2' })
  t.match(full, { statusCode: 503, headers: { 'retry-after': '1', 'content-type': /^text\/html/ } })
})

t.test('whatever is wrong with a link or its form is a page', async (t) => {
  const { ask } = await startConsole(t, { CONSOLE_API_URL: 'http://127.0.0.1:1' })
  const post = { method: 'POST', headers } as const
  for (const [status, url, options] of [
    [503, link, {}],
    [404, '/decide/..%2fapi/events', {}],
    [413, link, { ...post, payload: 'x'.repeat(16_385) }],
    [415, link, { ...post, headers: { 'content-type': 'application/json' }, payload: '{}' }],
  ] as const) {
    const answer = await ask(url, options)
    t.match(answer, { statusCode: status, headers: { 'content-type': /^text\/html/ } }, `${status}`)
    t.match(answer.payload, '<p class="wait" role="status">')
  }
})

t.test('the links of one workspace take eight slots, from however many addresses', async (t) => {
  const api = await openApiInTrouble(t)
  const { ask } = await startConsole(t, { CONSOLE_API_URL: api.url })
  for (let n = 0; n < 8; n++) void ask(linkOf('BUSY'), { remoteAddress: `10.0.0.${n}` }).catch(() => {})
  await until(() => api.count() === 8)
  const ninth = await ask(linkOf('busy'), { remoteAddress: '10.0.1.1' })
  t.match(ninth, { statusCode: 429, payload: /too many requests for decisions of this workspace/ })
  void ask(linkOf('quiet'), { remoteAddress: '10.0.1.1' }).catch(() => {})
  await until(() => api.count() === 9)
})
