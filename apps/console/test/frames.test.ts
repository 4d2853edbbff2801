import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { frameSlots, usualSlots } from '../src/hand-on/slots.js'
import { openApiInTrouble, until } from './fixtures/api-in-trouble.js'
import { type Console, goodToken, openUpstream, signIn, startConsole } from './fixtures/console.js'

const session = '0198c0de-0000-7000-8000-000000000001'
const token = `emb_${session}_${'x'.repeat(43)}`
const shop = 'https://shop.example'

/** In the place of the API: it says who may frame a session, and counts who asks. */
async function openOrigins(owner: { teardown(close: () => Promise<unknown>): void }) {
  const asked: string[] = []
  const state = { origins: [shop] as unknown, status: 200 }
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} for ${request.headers['x-forwarded-for']}`)
    response.writeHead(state.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ origins: state.origins }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  owner.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, state, env: { CONSOLE_API_URL: url } }
}

/** Who may frame a response, by both headers. */
function framersOf({ headers }: { headers: Record<string, unknown> }): string {
  const [, ancestors] = /frame-ancestors ([^;]*)/.exec(String(headers['content-security-policy'])) ?? []
  return `${ancestors}${headers['x-frame-options'] === undefined ? '' : ` ${headers['x-frame-options']}`}`
}

t.test('the origins of a session may frame its page, and no other page of the console', async (t) => {
  const { asked, state, env } = await openOrigins(t)
  const { ask } = await startConsole(t, env)
  state.origins = [shop, 'http://localhost:5173']
  for (const path of [`/embed/${session}`, `/embed/${session}/rules/x?tab=versions`]) {
    const response = await ask(path, { headers: { 'sec-fetch-site': 'cross-site' } })
    t.equal(response.statusCode, 200)
    t.equal(framersOf(response), `${shop} http://localhost:5173`, path)
    t.match(response.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    t.match(response.body, /<div id="app">/)
    t.notMatch(response.body, /theme\.js/, 'nothing of it reads what the console keeps')
  }
  t.strictSame(asked, [`GET /api/developer/v1/embed-sessions/${session}/frame for 127.0.0.1`], 'asked once')
  for (const path of ['/', '/w/x', '/sign-in', '/embed', '/session', '/icon.svg', '/nothing'])
    t.equal(framersOf(await ask(path)), "'none' DENY", path)
})

t.test('nobody frames a session that is unknown, has no origins, or cannot be asked about', async (t) => {
  const { asked, state, env } = await openOrigins(t)
  const { ask } = await startConsole(t, env)
  const framers = async (id: string) => framersOf(await ask(`/embed/${id}`))
  const other = (last: string) => `${session.slice(0, -1)}${last}`
  state.status = 404
  t.equal(await framers(other('2')), "'none' DENY", 'unknown')
  state.status = 200
  t.equal(await framers(other('2')), "'none' DENY", 'which is known for a while')
  state.origins = []
  t.equal(await framers(other('3')), "'none' DENY", 'none')
  state.origins = [
    "https://a.example; script-src 'unsafe-inline'",
    'https://*.example',
    '*',
    'null',
    7,
    'javascript:x',
  ]
  t.equal(await framers(other('4')), "'none' DENY", 'none that is an exact origin')
  const before = asked.length
  for (const id of ['x', `${session}x`, '%00', '..%2fsession', session.replace('-', '')]) await framers(id)
  t.equal(asked.length, before, 'what is no id is not asked')
  state.status = 503
  t.equal(await framers(other('5')), "'none' DENY", 'the API is away')
  state.status = 200
  state.origins = [shop]
  t.equal(await framers(other('5')), shop, 'a failure is not kept')
})

t.test('fifty frames that are opened at once from one address are framed', async (t) => {
  const held: (() => void)[] = []
  const { url } = await openApiInTrouble(t, (_request, response) => {
    held.push(() => response.end(JSON.stringify({ origins: [shop] })))
    if (held.length >= 50) for (const answer of held) answer()
  })
  const { ask } = await startConsole(t, { CONSOLE_API_URL: url })
  const idOf = (index: number) => `${session.slice(0, -2)}${index + 10}`
  const asking = Array.from({ length: 50 }, (_, index) => ask(`/embed/${idOf(index)}`))
  t.strictSame([...new Set((await Promise.all(asking)).map(framersOf))], [shop])
})

t.test('a frame acts by its own token: neither the cookie nor a proxy takes its place', async (t) => {
  const upstream = await openUpstream(t)
  const trusting = { CONSOLE_TRUST_BEARER: 'true', TRUST_PROXY: '127.0.0.0/8' }
  const proxied = { 'x-forwarded-access-token': goodToken, 'x-forwarded-for': '203.0.113.7' }
  for (const env of [{}, trusting]) {
    const console = await startConsole(t, { CONSOLE_API_URL: upstream.url, ...env })
    const cookie = await signIn(console)
    const headers = { ...proxied, cookie, 'x-embed-session': session }
    const own = await console.ask('/api/me', { headers: { ...headers, authorization: `Bearer ${token}` } })
    t.equal(own.statusCode, 401, 'as the API says')
    t.equal(upstream.arrivals.at(-1)?.headers.authorization, `Bearer ${token}`)
    t.equal(own.headers['set-cookie'], undefined, 'a token that is over ends no session of the console')
    const count = upstream.arrivals.length
    for (const authorization of [undefined, `Bearer ${goodToken}`, 'Bearer emb_x']) {
      const given = authorization === undefined ? {} : { authorization }
      const response = await console.ask('/api/me', { headers: { ...headers, ...given } })
      t.equal(response.statusCode, 401, authorization ?? 'no token')
    }
    t.equal(upstream.arrivals.length, count, 'without its token nothing reaches the API')
  }
})

t.test('a link is exchanged, and its origins are asked for, as nobody', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  const path = `/api/developer/v1/embed-sessions/${session}`
  const answer = await console.ask(`${path}/open`, {
    method: 'POST',
    payload: { secret: 's' },
    headers: { cookie },
  })
  await console.ask(`${path}/frame`, { headers: { cookie } })
  t.equal(answer.headers['set-cookie'], undefined)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(upstream.arrivals.length, 2)
  for (const { headers } of upstream.arrivals)
    for (const name of ['authorization', 'cookie']) t.notOk(name in headers, name)
  const foreign = { 'sec-fetch-site': 'cross-site', origin: shop, authorization: `Bearer ${token}` }
  for (const [to, method] of [
    [`${path}/open`, 'POST'],
    ['/api/me', 'GET'],
  ] as const)
    t.equal(
      (await console.ask(to, { method, headers: foreign })).statusCode,
      403,
      'from another site: refused',
    )
  t.equal(upstream.arrivals.length, 2)
})

t.test('each token has slots of its own', async (t) => {
  const held: (() => void)[] = []
  const { url } = await openApiInTrouble(t, (_request, response) => void held.push(() => response.end('{}')))
  const { ask } = await startConsole(t, { CONSOLE_API_URL: url })
  const send = (of: string) => ask('/api/me', { headers: { authorization: `Bearer ${of}` } })
  const waiting = Array.from({ length: 8 }, () => send(token))
  await until(() => held.length === 8)
  t.equal((await send(token)).statusCode, 429)
  const other = send(`emb_${session.slice(0, -1)}2_${'y'.repeat(43)}`)
  await until(() => held.length === 9)
  for (const end of held) end()
  t.same(
    new Set((await Promise.all([...waiting, other])).map(({ statusCode }) => statusCode)),
    new Set([200]),
  )
})

t.test('frames, and who only pretends to be one, take no place of the people of the console', async (t) => {
  const from = (of: number) => ({ 'x-forwarded-for': `203.0.113.${of % 4}` })
  const idOf = (of: number) => `${session.slice(0, -3)}${`${of}`.padStart(3, '0')}`
  type Send = (console: Console, of: number) => ReturnType<Console['ask']>
  const ways: Record<string, { inAll: number; send: Send }> = {
    'a token': {
      ...usualSlots,
      send: ({ ask }, of) =>
        ask('/api/me', {
          headers: { ...from(of), authorization: `Bearer emb_${idOf(of)}_${'z'.repeat(43)}` },
        }),
    },
    'a link': {
      ...frameSlots,
      send: ({ ask }, of) =>
        ask(`/api/developer/v1/embed-sessions/${idOf(of)}/open`, {
          method: 'POST',
          payload: { secret: 's' },
          headers: from(of),
        }),
    },
  }
  for (const [name, { inAll, send }] of Object.entries(ways))
    await t.test(name, async (t) => {
      const api = await openApiInTrouble(t)
      const console = await startConsole(t, { CONSOLE_API_URL: api.url, TRUST_PROXY: '127.0.0.0/8' })
      const cookie = await signIn(console)
      for (let of = 0; of < inAll; of++) void send(console, of)
      await until(() => api.open.size === inAll)
      t.equal((await send(console, inAll)).statusCode, 503, 'no more at a time')
      const own = console.ask('/api/me', { headers: { cookie, ...from(inAll) } })
      await Promise.race([own, until(() => api.open.size > inAll)])
      t.equal(api.open.size, inAll + 1, 'somebody who is signed in')
    })
})

t.test('a secret that never arrives completely takes no place of those that do', async (t) => {
  const upstream = await openUpstream(t)
  const { app, ask } = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const path = `/api/developer/v1/embed-sessions/${session}/open`
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1:3003',
    'origin: http://127.0.0.1:3003',
    'content-type: application/json',
    'content-length: 1000\r\n\r\n{',
  ].join('\r\n')
  const sockets = Array.from({ length: 32 }, () => connect({ port, host: '127.0.0.1' }))
  t.teardown(() => sockets.forEach((socket) => void socket.destroy()))
  let arrived = 0
  app.server.on('request', () => arrived++)
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.write(head)
  }
  await until(() => arrived === sockets.length)
  const whole = await ask(path, { method: 'POST', payload: { secret: 's' } })
  t.equal(whole.statusCode, 401, 'as the upstream says')
  t.strictSame(
    upstream.arrivals.map(({ body }) => body),
    [JSON.stringify({ secret: 's' })],
  )
  const large = await ask(path, { method: 'POST', payload: { secret: 's'.repeat(5_000) } })
  t.equal(large.statusCode, 413)
  const form = { payload: 'secret=s', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  t.equal((await ask(path, { method: 'POST', ...form })).statusCode, 415)
  t.match(large.json(), { error: /too large/i })
  t.equal(upstream.arrivals.length, 1)
})
