import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { connect as connectSecurely, createServer as createSecureServer } from 'node:tls'
import { startPatientClock } from '@automation/launcher/patient-clock'
import t, { type Test } from 'tap'
import { GuardedAgent } from '../src/effects/guarded-agent.js'
import { createCertificate } from './fixtures/certificate.js'
import { context, loopback, openSender, serve, serveRaw, webhook } from './fixtures/outbound.js'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** A server whose connections do this with their first, second, … request. */
async function serveInTurn(t: Test, ...turns: ((socket: Socket) => void)[]) {
  const requests: string[] = []
  const server = await serveRaw(t, (socket) => {
    const left = [...turns]
    socket.on('data', (bytes) => {
      requests.push(bytes.toString())
      left.shift()?.(socket)
    })
  })
  return Object.assign(server, { requests })
}

const respond = (socket: Socket) => void socket.write(ok)

const post = (onUncertain: 'retry' | 'stop', url: string, timeoutMs?: number) => {
  const action = webhook({ url, body: { a: 1 } }, timeoutMs)
  return { ...action, of: { ...action.of, onUncertain } }
}

t.test('a call whose reused connection was just closed is made once more on a new one', async (t) => {
  const ways: Record<string, (socket: Socket) => void> = {
    'closes it': (socket) => socket.end(),
    'resets it': (socket) => socket.resetAndDestroy(),
  }
  for (const [way, drop] of Object.entries(ways)) {
    const server = await serveInTurn(t, respond, drop)
    const sender = openSender(t)
    for (let index = 0; index < 4; index++)
      t.match(await sender.sendWebhook(post('retry', server.url), context), { status: 'success' }, way)
    t.equal(server.requests.length, 7)
    t.equal(server.connections, 4)
    const keys = server.requests.map((request) => /idempotency-key: (\S+)/.exec(request)?.[1])
    t.same([...new Set(keys)], [`${context.executionId}:0`], 'the same key')
    t.equal(new Set(server.requests).size, 1, 'the same bytes')
  }
})

t.test('a new connection is not replaced when it fails, and the error names the host', async (t) => {
  const dropping = await serveInTurn(t, (socket) => socket.end())
  t.same(await openSender(t).sendWebhook(post('retry', dropping.url), context), {
    status: 'failed',
    error: '127.0.0.1: other side closed',
  })
  t.equal(dropping.connections, 1)

  let isWell = true
  const server = await serveRaw(t, (socket) => {
    const drop = () => socket.resetAndDestroy()
    socket.once('data', () => (isWell ? socket.write(ok) : drop()))
    socket.on('data', () => isWell || drop())
  })
  const sender = openSender(t)
  await sender.sendWebhook(post('retry', server.url), context)
  isWell = false
  t.same(await sender.sendWebhook(post('retry', server.url), context), {
    status: 'failed',
    error: '127.0.0.1: read ECONNRESET',
  })
  t.equal(server.connections, 2, 'once more, and not twice')
})

t.test('the new connection is no other idle one', async (t) => {
  let isWell = true
  const server = await serveRaw(t, (socket) => {
    const since = isWell
    socket.on('data', () =>
      isWell || !since ? void setTimeout(5).then(() => socket.write(ok)) : socket.end(),
    )
  })
  const sender = openSender(t)
  const call = () => sender.sendWebhook(post('retry', server.url), context)
  await Promise.all([call(), call(), call()])
  t.equal(server.connections, 3)
  isWell = false
  t.match(await call(), { status: 'success' })
  t.equal(server.connections, 4)
})

t.test('a call that has a byte of its response is not repeated', async (t) => {
  const begun: Record<string, string> = {
    'a byte': 'H',
    'an interim response': 'HTTP/1.1 102 Processing\r\n\r\n',
    'half of the headers': 'HTTP/1.1 200 OK\r\nX: y\r\n',
  }
  for (const [what, bytes] of Object.entries(begun)) {
    const server = await serveInTurn(t, respond, (socket) => socket.end(bytes))
    const sender = openSender(t)
    await sender.sendWebhook(post('retry', server.url), context)
    t.match(await sender.sendWebhook(post('retry', server.url), context), { status: 'failed' }, what)
    t.equal(server.requests.length, 2)
  }
})

t.test('a call that may not be made twice has a connection of its own', async (t) => {
  const server = await serveInTurn(t, respond, (socket) => socket.end())
  const sender = openSender(t)
  for (let index = 0; index < 3; index++)
    t.match(await sender.sendWebhook(post('stop', server.url), context), { status: 'success' })
  t.equal(server.requests.length, 3)
  t.equal(server.connections, 3)
  const [request = ''] = server.requests
  t.match(request, /connection: close\r\n/, 'the receiver may close it')
  await sender.sendWebhook(post('retry', server.url), context)
  t.equal(server.requests.length, 4, 'none of them was kept')

  const dropping = await serveInTurn(t, (socket) => socket.end())
  t.match(await sender.sendWebhook(post('stop', dropping.url), context), { status: 'failed' })
  t.equal(dropping.requests.length, 1)
})

t.test('one timeout holds for both tries', async (t) => {
  const silent = (socket: Socket) => void setTimeout(1_000).then(() => socket.end())
  let isFirst = true
  const server = await serveRaw(t, (socket) => {
    const answers = isFirst
    isFirst = false
    let seen = 0
    socket.on('data', () => {
      if (!answers) return
      seen += 1
      if (seen === 1) socket.write(ok)
      else silent(socket)
    })
  })
  const sender = openSender(t)
  await sender.sendWebhook(post('retry', server.url), context)
  const clock = startPatientClock()
  t.same(await sender.sendWebhook(post('retry', server.url, 2_000), context), {
    status: 'failed',
    error: 'Timed out after 2000 ms',
  })
  t.ok(clock() < 2_900, 'not 1 s and then another 2')
  t.equal(server.connections, 2)
})

t.test('a call that ends with its timeout or its sender is not repeated', async (t) => {
  const server = await serveInTurn(t, respond, () => {})
  const sender = openSender(t)
  const call = (timeoutMs: number) => sender.sendWebhook(post('retry', server.url, timeoutMs), context)
  await call(1_000)
  t.match(await call(100), { error: 'Timed out after 100 ms' })
  t.equal(server.connections, 1)
  await call(1_000)
  const last = call(60_000)
  while (server.requests.length < 4) await setImmediate()
  sender.close()
  t.match(await last, { status: 'failed' })
  t.equal(server.connections, 2)
})

t.test('the address of the new connection is checked like that of the first', async (t) => {
  const server = await serveInTurn(t, respond, (socket) => socket.end())
  let address = '127.0.0.1'
  const sender = openSender(t, loopback, { resolveHost: async () => [address] })
  const url = server.url.replace('127.0.0.1', 'hooks.example')
  await sender.sendWebhook(post('retry', url), context)
  address = '10.0.0.1'
  t.same(await sender.sendWebhook(post('retry', url), context), {
    status: 'failed',
    error: 'Outbound calls may not reach the host hooks.example: its address is private or reserved',
    isFinal: true,
  })
})

t.test('a connection that was reset while idle costs no call, in plain text and in TLS', async (t) => {
  for (const secure of [false, true]) {
    const sockets = new Set<Socket>()
    const seen: string[] = []
    const server = secure ? createSecureServer(createCertificate('hooks.example')) : createServer()
    server.on('connection', (socket: Socket) => sockets.add(socket))
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        seen.push(bytes.toString())
        socket.write(ok)
      })
    })
    const port = await listen(t, server)
    const target = { host: '127.0.0.1', port, rejectUnauthorized: false }
    const agent = new GuardedAgent(async () => {
      const socket = secure ? connectSecurely(target) : connect(target)
      socket.on('error', () => {})
      await once(socket, secure ? 'secureConnect' : 'connect')
      return socket
    })
    t.teardown(() => agent.close())
    const url = new URL(`http${secure ? 's' : ''}://127.0.0.1:${port}/`)
    const call = () =>
      agent.call(
        url,
        { method: 'POST', body: '{}', mayRepeat: true },
        new AbortController().signal,
        async ({ body }) => body.text(),
      )
    t.equal(await call(), 'ok')
    for (const socket of sockets) socket.resetAndDestroy()
    t.equal(await call(), 'ok')
    t.equal(seen.length, 2)
    t.equal(sockets.size, 2)
  }
})

t.test('a server that closes its connections early loses no call', async (t) => {
  const server = await serve(t)
  const sender = openSender(t)
  for (let index = 0; index < 30; index++) {
    t.match(await sender.sendWebhook(post('retry', server.url), context), { status: 'success' })
    if (index % 3 === 0) server.hangUp()
    if (index % 3 === 1) void setImmediate().then(() => server.hangUp())
  }
})

async function listen(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}
