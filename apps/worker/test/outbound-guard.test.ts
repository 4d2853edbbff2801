import { setImmediate } from 'node:timers/promises'
import type { Effect } from '@automation/engine'
import t, { type Test } from 'tap'
import { createAddressGuard, RefusedCall } from '../src/effects/address-guard.js'
import { createResolver, type ResolveHost } from '../src/effects/create-resolver.js'
import type { LogCause } from '../src/effects/log-cause.js'
import { serveDns } from './fixtures/dns.js'
import { spellIndirectly, spellLoopback, spellWithCredentials } from './fixtures/loopback-spellings.js'
import { context, loopback, openSender, readOutbound, serve, serveRaw, webhook } from './fixtures/outbound.js'

const nothingAllowed = {}
const everyLoopback = { OUTBOUND_ALLOW: '127.0.0.0/8,::1' }

/** A web server on 127.0.0.1 and, if there is IPv6, on ::1, with the same port. It counts the connections to both. */
async function listenOnLoopback(t: Test) {
  const ipv4 = await serve(t)
  const ipv6 = await serve(t, undefined, '::1', ipv4.port).catch(() => undefined)
  return {
    port: ipv4.port,
    hasIpv6: ipv6 !== undefined,
    countConnections: () => ipv4.connections + (ipv6?.connections ?? 0),
    countCalls: () => ipv4.calls.length + (ipv6?.calls.length ?? 0),
  }
}

function isRefused(effect: Effect): boolean {
  return effect.status === 'failed' && effect.isFinal === true && !effect.error.startsWith('HTTP')
}

t.test('no spelling of a loopback address reaches this machine', async (t) => {
  const listener = await listenOnLoopback(t)
  const at = `:${listener.port}`
  const families = {
    ...spellLoopback(at),
    'by detours': spellIndirectly(at),
    'behind credentials': spellWithCredentials(at),
  }
  const sender = openSender(t, nothingAllowed)
  let spellings = 0
  for (const [family, urls] of Object.entries(families)) {
    for (const url of urls) {
      const effect = await sender.sendWebhook(webhook({ url }), context)
      if (!isRefused(effect)) t.fail(`${JSON.stringify(url)} was not refused: ${JSON.stringify(effect)}`)
    }
    spellings += urls.length
    t.equal(listener.countConnections(), 0, family)
  }
  t.ok(spellings >= 300, `${spellings} spellings`)
})

t.test('each of these spellings reaches an allowed loopback address: the test above can fail', async (t) => {
  const listener = await listenOnLoopback(t)
  const sender = openSender(t, everyLoopback)
  let expected = 0
  for (const [family, urls] of Object.entries(spellLoopback(`:${listener.port}`))) {
    if (family.includes('IPv6') && !listener.hasIpv6) continue
    for (const url of urls) {
      const effect = await sender.sendWebhook(webhook({ url }), context)
      if (effect.status !== 'success') t.fail(`${JSON.stringify(url)}: ${effect.error}`)
    }
    expected += urls.length
    t.equal(listener.countCalls(), expected, family)
  }
})

t.test('a URL with credentials is refused, even if its address is allowed', async (t) => {
  const listener = await listenOnLoopback(t)
  const sender = openSender(t, everyLoopback)
  for (const url of spellWithCredentials(`:${listener.port}`)) {
    const effect = await sender.sendWebhook(webhook({ url }), context)
    if (!isRefused(effect)) t.fail(url)
  }
  t.equal(listener.countConnections(), 0)
})

t.test('notifications have the same guard as webhooks', async (t) => {
  const listener = await listenOnLoopback(t)
  const config = { url: `http://127.1:${listener.port}/`, text: 'x' }
  const action = { ...webhook({ url: '' }), type: 'SEND_NOTIFICATION', config } as never
  t.match(await openSender(t, nothingAllowed).sendNotification(action, context), {
    error: 'Outbound calls may not reach the host 127.0.0.1: its address is private or reserved',
    isFinal: true,
  })
  t.equal(listener.countConnections(), 0)
})

t.test('a name with a special address is refused, even if it has other addresses', async (t) => {
  const listener = await listenOnLoopback(t)
  const harmless = '127.0.0.2'
  // Each special range is in special-addresses.test.ts.
  const special = [
    '127.0.0.1',
    '10.0.0.1',
    '::1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    'fe80::1%lo',
    '',
    'localhost',
    '127.1',
  ]
  const answers = special.flatMap((address) => [[address], [harmless, address], [address, harmless]])
  let answer: string[] = []
  const resolveHost = async () => answer
  const sender = openSender(t, { OUTBOUND_ALLOW: harmless }, { resolveHost })
  for (answer of answers) {
    for (const name of [
      'hooks.example',
      'hooks.example.',
      'a..b',
      '127.0.0.1.nip.example',
      'xn--lcalhost-m8a.example',
    ]) {
      const effect = await sender.sendWebhook(webhook({ url: `http://${name}:${listener.port}/` }), context)
      if (!isRefused(effect)) t.fail(`${name} → ${answer.join(', ')}`)
    }
  }
  t.equal(listener.countConnections(), 0, `${answers.length * 5} cases`)
})

t.test('a second DNS look-up cannot change the address: the checked one is connected', async (t) => {
  const listener = await listenOnLoopback(t)
  const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2'], ['::1'], ['127.0.0.2', '127.0.0.1']]
  const effects: Effect[] = []
  let asked = 0
  const resolveHost: ResolveHost = async () => answers[asked++ % answers.length] ?? []
  const sender = openSender(t, { OUTBOUND_ALLOW: '127.0.0.2' }, { resolveHost })
  for (let call = 1; call <= 10; call++) {
    effects.push(
      await sender.sendWebhook(webhook({ url: `http://rebind.example:${listener.port}/` }), context),
    )
    t.equal(asked, call, 'one look-up for each connection')
  }
  t.equal(listener.countConnections(), 0)
  t.same(
    effects.map(isRefused),
    [false, true, false, true, true, false, true, false, true, true],
    'a refused connection to an allowed address may be retried',
  )
})

t.test('a short name reaches no private address unless it is allowed', async (t) => {
  const listener = await serve(t)
  const { server } = await serveDns(t, { 'crm.ns.svc A': [[127, 0, 0, 1]] })
  const resolvConf = `nameserver ${server}\nsearch ns.svc\noptions ndots:5`
  const resolveHost = createResolver('/nonexistent', `${t.testdir({ conf: resolvConf })}/conf`)
  const call = (variables?: Record<string, string>) =>
    openSender(t, variables, { resolveHost }).sendWebhook(
      webhook({ url: `http://crm:${listener.port}/` }),
      context,
    )
  t.match(await call(), { status: 'success' })
  t.ok(isRefused(await call({})))
  t.equal(listener.connections, 1)
})

t.test('what a name is resolved to is in the log, and in no error that a tenant reads', async (t) => {
  const causes: unknown[] = []
  const log: LogCause = (cause, { executionId }) => causes.push({ executionId, ...(cause as object) })
  const at = (addresses: string[], port: number) => {
    const options = { resolveHost: async () => addresses, logCause: log }
    const sender = openSender(t, { OUTBOUND_ALLOW: '127.0.0.2,127.0.0.3' }, options)
    return sender.sendWebhook(webhook({ url: `http://wiki.example:${port}/` }), context)
  }
  for (const address of ['10.1.2.3', 'fd00::1234', '::ffff:10.1.2.3', '169.254.169.254'])
    t.same(await at([address], 443), {
      status: 'failed',
      error: 'Outbound calls may not reach the host wiki.example: its address is private or reserved',
      isFinal: true,
    })
  for (const addresses of [['127.0.0.2'], ['127.0.0.2', '127.0.0.3']])
    t.same(await at(addresses, 1), { status: 'failed', error: 'connect ECONNREFUSED wiki.example:1' })
  const { executionId } = context
  const logged = ['10.1.2.3', 'fd00::1234', '::ffff:10.1.2.3', '169.254.169.254', '127.0.0.2', '127.0.0.2']
  t.match(
    causes,
    logged.map((address) => ({ executionId, address })),
  )
})

t.test('a reused connection keeps its peer, and a new one is checked again', async (t) => {
  const first = await serve(t, (_request, response) => {
    if (first.calls.length === 2) response.setHeader('connection', 'close')
    response.end()
  })
  const forbidden = await serve(t, undefined, '127.0.0.2', first.port).catch(() => undefined)
  let address = '127.0.0.1'
  const sender = openSender(t, { OUTBOUND_ALLOW: '127.0.0.1' }, { resolveHost: async () => [address] })
  const call = () => sender.sendWebhook(webhook({ url: `http://rebind.example:${first.port}/` }), context)
  t.match(await call(), { status: 'success' })
  address = '127.0.0.2'
  t.match(await call(), { status: 'success' })
  t.equal(first.connections, 1)
  t.match(await call(), {
    error: 'Outbound calls may not reach the host rebind.example: its address is private or reserved',
    isFinal: true,
  })
  t.equal(first.calls.length, 2)
  t.equal(forbidden?.connections ?? 0, 0)
})

t.test('a peer with another address gets nothing, not even a TLS handshake', async (t) => {
  let closed = 0
  const listener = await serveRaw(t, (socket) => socket.on('close', () => closed++))
  // A connection to 0.0.0.0 reaches 127.0.0.1: the address is allowed, the peer is not.
  const sender = openSender(t, { OUTBOUND_ALLOW: '0.0.0.0' })
  for (const scheme of ['http', 'https']) {
    const effect = await sender.sendWebhook(
      webhook({ url: `${scheme}://0.0.0.0:${listener.port}/` }),
      context,
    )
    t.match(effect, {
      error: 'Outbound calls may not reach the host 0.0.0.0: its address is private or reserved',
      isFinal: true,
    })
  }
  t.equal(listener.bytes, 0)
  while (closed < 2) await setImmediate()
  t.equal(listener.connections, 2, 'each connection is closed')
})

t.test('a redirect is a response, and is never followed', async (t) => {
  const target = await serve(t)
  const locations = [
    ...[
      `${target.url}/`,
      `http://localhost:${target.port}/`,
      `//127.0.0.1:${target.port}/`,
      `http://127.1:${target.port}`,
    ],
    ...[`http://[::ffff:127.0.0.1]:${target.port}/`, '/elsewhere', `HTTP://0x7f000001:${target.port}/`, ''],
  ]
  const sender = openSender(t)
  for (const statusCode of [301, 302, 303, 307, 308]) {
    for (const location of locations) {
      const server = await serve(t, (_request, response) =>
        response.writeHead(statusCode, { location }).end(),
      )
      const effect = await sender.sendWebhook(webhook({ url: server.url, method: 'GET' }), context)
      t.match(effect, {
        error: new RegExp(`^HTTP ${statusCode}: redirects are not followed`),
        isFinal: true,
        output: { statusCode },
      })
      t.equal(server.calls.length, 1)
    }
  }
  t.equal(target.connections, 0)
})

t.test('proxies in the environment are not used', async (t) => {
  const proxy = await serve(t)
  const server = await serve(t)
  const names = [
    'HTTP_PROXY',
    'http_proxy',
    'HTTPS_PROXY',
    'https_proxy',
    'ALL_PROXY',
    'all_proxy',
    'NODE_USE_ENV_PROXY',
  ]
  const before = names.map((name) => [name, process.env[name]] as const)
  t.teardown(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url
  t.match(await openSender(t).sendWebhook(webhook({ url: server.url }), context), { status: 'success' })
  t.match(await openSender(t, nothingAllowed).sendWebhook(webhook({ url: server.url }), context), {
    isFinal: true,
  })
  t.equal(proxy.connections, 0)
})

t.test('only configured ports are called, by default 80 and 443', async (t) => {
  const listener = await listenOnLoopback(t)
  const sender = openSender(t, { ...loopback, OUTBOUND_PORTS: '80,443,8443' })
  const url = `http://127.0.0.1:${listener.port}/`
  t.match(await sender.sendWebhook(webhook({ url }), context), {
    error: `Outbound calls may not reach the port ${listener.port}`,
    isFinal: true,
  })
  t.equal(listener.countConnections(), 0)

  const guard = createAddressGuard(readOutbound({ OUTBOUND_PORTS: '' }))
  for (const open of [
    'http://x.example',
    'https://x.example',
    'http://x.example:443',
    'https://x.example:8443',
    'https://x.example:80',
  ])
    t.ok(guard.readUrl(open) instanceof URL, open)
  for (const port of [0, 1, 22, 25, 81, 444, 5432, 6379, 8080, 8444, 65_535])
    t.ok(guard.readUrl(`http://x.example:${port}/`) instanceof RefusedCall, `${port}`)
  const range = createAddressGuard(readOutbound({ OUTBOUND_PORTS: '8000-8999' }))
  t.same(
    [7_999, 8_000, 8_999, 9_000].map((port) => range.readUrl(`http://x.example:${port}`) instanceof URL),
    [false, true, true, false],
  )
})

t.test('with a list of hosts, no other host is called, by name or by address', async (t) => {
  const listener = await listenOnLoopback(t)
  const resolveHost = async () => ['127.0.0.1']
  const variables = { ...everyLoopback, OUTBOUND_HOSTS: 'hooks.example,*.good.example' }
  const sender = openSender(t, variables, { resolveHost })
  const call = (host: string) =>
    sender.sendWebhook(webhook({ url: `http://${host}:${listener.port}/` }), context)
  const listed = [
    'hooks.example',
    'HOOKS.example.',
    'a.good.example',
    'a.b.good.example',
    'ｈｏｏｋｓ。example',
  ]
  for (const host of listed) t.match(await call(host), { status: 'success' }, host)
  t.equal(listener.countCalls(), listed.length)
  const connections = listener.countConnections()
  const others = [
    ...[
      'good.example',
      'evilgood.example',
      'hooks.example.evil.example',
      'ahooks.example',
      'x.hooks.example',
      'example',
    ],
    ...[
      '127.0.0.1',
      '127.1',
      '[::1]',
      'localhost',
      'hooks.example..',
      '.good.example.evil',
      'a.good.example.evil.example',
    ],
  ]
  for (const host of others) t.match(await call(host), { status: 'failed', isFinal: true }, host)
  t.equal(listener.countConnections(), connections)
})

t.test('a listed host cannot reach this machine', async (t) => {
  const listener = await listenOnLoopback(t)
  const resolveHost = async () => ['127.0.0.1']
  const sender = openSender(t, { OUTBOUND_HOSTS: 'hooks.example,localhost,127.0.0.1' }, { resolveHost })
  for (const host of ['hooks.example', 'localhost', '127.0.0.1']) {
    const effect = await sender.sendWebhook(webhook({ url: `http://${host}:${listener.port}/` }), context)
    t.match(effect, {
      error: `Outbound calls may not reach the host ${host}: its address is private or reserved`,
      isFinal: true,
    })
  }
  t.equal(listener.countConnections(), 0)
})

t.test('other schemes are refused', async (t) => {
  const sender = openSender(t)
  for (const url of [
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'ws://127.0.0.1/',
    'data:,x',
    'gopher://127.0.0.1/',
    'x',
    '',
  ])
    t.match(await sender.sendWebhook(webhook({ url }), context), { status: 'failed', isFinal: true }, url)
})
