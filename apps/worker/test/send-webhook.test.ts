import { createHmac } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { actionDefinitions, compileRule, planRule } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import type { Addressee } from '@automation/ledger'
import fc from 'fast-check'
import t from 'tap'
import { Check } from 'typebox/value'
import type { Recipient } from '../src/effects/outgoing-keys.js'
import { readRetryAfter } from '../src/effects/read-response.js'
import { context, loopback, openSender, serve, serveRaw, webhook } from './fixtures/outbound.js'

const key = '01a1fdbb-fa3e-83a9-9175-dde8b4efbf8c:0'
const mebibyte = 1_048_576

function answerWith(
  statusCode: number,
  headers: Record<string, string> = {},
  body: string | Buffer = '',
): RequestListener {
  return (_request, response) => response.writeHead(statusCode, headers).end(body)
}

t.test('without a body in the rule, a call contains the event; all attempts have the same key', async (t) => {
  const server = await serve(t)
  const sender = openSender(t)
  const action = webhook({ url: `${server.url}/hook?a=b#c`, headers: { 'X-Team': 'blue' } })
  t.same(await sender.sendWebhook(action, context), { status: 'success', output: { statusCode: 200 } })
  await sender.sendWebhook(action, context)
  const [first, second] = server.calls
  t.match(first, {
    method: 'POST',
    url: '/hook?a=b',
    headers: { 'content-type': 'application/json', 'x-team': 'blue', 'user-agent': 'automation-rules' },
  })
  t.same(JSON.parse(first?.body ?? ''), {
    type: 'LEAD_CREATED',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { team: 'blue' },
  })
  t.equal(first?.headers['idempotency-key'], key)
  t.equal(second?.headers['idempotency-key'], key)
})

t.test("the rule's body is sent unchanged; GET and DELETE have no body by default", async (t) => {
  const server = await serve(t)
  const sender = openSender(t)
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const)
    await sender.sendWebhook(webhook({ url: server.url, method, body: { score: 7, tags: ['é'] } }), context)
  for (const method of ['GET', 'DELETE'] as const)
    await sender.sendWebhook(webhook({ url: server.url, method }), context)
  matchLists(
    t,
    server.calls.map(({ method, body, headers }) => [method, body, headers['content-type']]),
    [
      ['PUT', '{"score":7,"tags":["é"]}', 'application/json'],
      ['PATCH', '{"score":7,"tags":["é"]}', 'application/json'],
      ['DELETE', '{"score":7,"tags":["é"]}', 'application/json'],
      ['GET', '', undefined],
      ['DELETE', '', undefined],
    ],
  )
})

t.test('a text is sent as it is if the rule declares it as something else than JSON', async (t) => {
  const server = await serve(t)
  const sender = openSender(t)
  const form = 'name=Zo%C3%AB&score=7'
  const cases: [type: string | undefined, body: unknown, sent: string][] = [
    ['application/x-www-form-urlencoded', form, form],
    ['text/plain; charset=utf-8', 'Zoë "won"', 'Zoë "won"'],
    ['application/xml', '<a/>', '<a/>'],
    ['text/plain', { a: 1 }, '{"a":1}'],
    [undefined, 'x', '"x"'],
    ['application/json', 'x', '"x"'],
    ['application/vnd.api+json; charset=utf-8', 'x', '"x"'],
  ]
  for (const [type, body] of cases) {
    const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type }
    t.match(await sender.sendWebhook(webhook({ url: server.url, headers, body }), context), {
      status: 'success',
    })
  }
  matchLists(
    t,
    server.calls.map(({ headers, body }) => [headers['content-type'], body]),
    cases.map(([type = 'application/json', , sent]) => [type, sent]),
  )
})

t.test('a notification has the form of Slack-compatible webhooks', async (t) => {
  const server = await serve(t)
  const action = {
    ...webhook({ url: '' }),
    type: 'SEND_NOTIFICATION',
    config: { url: server.url, text: 'New: Ada' },
  }
  t.match(await openSender(t).sendNotification(action as never, context), { status: 'success' })
  matchLists(t, server.calls, [
    { method: 'POST', body: '{"text":"New: Ada"}', headers: { 'idempotency-key': key } },
  ])
})

t.test('a notification has the body of its chat', async (t) => {
  const server = await serve(t)
  const sender = openSender(t)
  for (const format of ['slack', 'text', 'discord', 'teams']) {
    const config = { url: server.url, text: 'New: Ada', format }
    const action = { ...webhook({ url: '' }), type: 'SEND_NOTIFICATION', config }
    t.match(await sender.sendNotification(action as never, context), { status: 'success' })
  }
  const [slack, text, discord, teams] = server.calls.map(({ body }) => JSON.parse(body))
  t.strictSame([slack, text], [{ text: 'New: Ada' }, { text: 'New: Ada' }])
  t.match(discord, { content: 'New: Ada', allowed_mentions: { parse: { length: 0 } } })
  t.match(teams, { attachments: [{ content: { type: 'AdaptiveCard', body: [{ text: 'New: Ada' }] } }] })
})

t.test('a rule cannot set headers that frame, route or sign the request', async (t) => {
  const server = await serve(t)
  const config = actionDefinitions.find(({ type }) => type === 'SEND_WEBHOOK')?.config ?? t.fail()
  const reserved = [
    ...[
      'host',
      'content-length',
      'transfer-encoding',
      'connection',
      'keep-alive',
      'proxy-connection',
      'te',
      'trailer',
    ],
    ...[
      'upgrade',
      'expect',
      'proxy-authorization',
      'idempotency-key',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ],
  ]
  const capitalise = (name: string) => name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase())
  for (const name of reserved.flatMap((name) => [name, name.toUpperCase(), capitalise(name)])) {
    const withHeader = { url: server.url, headers: { [name]: 'x' } }
    t.notOk(Check(config as never, withHeader), `${name} is refused at save`)
    const rule = { conditions: [], actions: [{ type: 'SEND_WEBHOOK', config: withHeader }] } as never
    matchLists(
      t,
      planRule(compileRule(rule), {}, 0).actions,
      [{ fault: /^config\.headers/ }],
      'without a call',
    )
  }
  for (const name of [
    'x-host',
    'hosts',
    'Authorization',
    'Accept',
    'webhook-id2',
    'x-idempotency-key',
    'Cookie',
  ])
    t.ok(Check(config as never, { url: server.url, headers: { [name]: 'x' } }), name)
})

t.test('a rule may change the usual headers in any spelling, except key and signature', async (t) => {
  const server = await serve(t)
  const sender = openSender(t, loopback, { findKeys: async () => ({ keys: [Buffer.alloc(32)] }) })
  const usual = {
    'USER-AGENT': 'mine',
    'Content-type': 'application/cloudevents+json',
    Authorization: 'Bearer x',
  }
  const forged = {
    'Idempotency-Key': 'x',
    'Webhook-Id': 'x',
    'webhook-timestamp': 'x',
    'WEBHOOK-SIGNATURE': 'x',
  }
  await sender.sendWebhook(webhook({ url: server.url, headers: { ...usual, ...forged } }), context)
  t.match(server.calls[0]?.headers, {
    'user-agent': 'mine',
    'content-type': 'application/cloudevents+json',
    authorization: 'Bearer x',
    'idempotency-key': key,
    'webhook-id': key,
    'webhook-timestamp': /^\d{10}$/,
    'webhook-signature': /^v1,[^ ]{44}$/,
  })
})

t.test('2xx is a success, temporary failures may be retried, and all others are final', async (t) => {
  let statusCode = 0
  const server = await serve(t, (_request, response) => response.writeHead(statusCode).end())
  const sender = openSender(t)
  const call = () => sender.sendWebhook(webhook({ url: server.url }), context)
  for (statusCode of [200, 201, 202, 206, 226, 299])
    t.same(await call(), { status: 'success', output: { statusCode } })
  for (statusCode of [408, 425, 429, 500, 501, 502, 503, 504, 507, 599])
    t.same(await call(), { status: 'failed', error: `HTTP ${statusCode}`, output: { statusCode } })
  for (statusCode of [400, 401, 402, 403, 404, 405, 409, 410, 413, 418, 422, 451, 499, 600, 999])
    t.same(await call(), {
      status: 'failed',
      error: `HTTP ${statusCode}`,
      output: { statusCode },
      isFinal: true,
    })
})

t.test('Retry-After is read if the call may be retried', async (t) => {
  let statusCode = 503
  const server = await serve(t, (_request, response) =>
    answerWith(statusCode, { 'retry-after': '7' })(_request, response),
  )
  const sender = openSender(t)
  t.match(await sender.sendWebhook(webhook({ url: server.url }), context), { retryAfterMs: 7_000 })
  statusCode = 400
  t.notOk('retryAfterMs' in (await sender.sendWebhook(webhook({ url: server.url }), context)))
})

t.test('Retry-After is seconds or an HTTP date; any other text is ignored', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const cases: [string | string[] | undefined, number | undefined][] = [
    ['0', 0],
    ['120', 120_000],
    ['3600', 3_600_000],
    ['999999999', 999_999_999_000],
    ['1000000000', 1_000_000_000_000],
    [' 3 ', 3_000],
    [['5', '6'], 5_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['', undefined],
    [undefined, undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['GMT', undefined],
    ['2026-01-01T00:01:00Z', undefined],
  ]
  for (const [header, expected] of cases) t.equal(readRetryAfter(header, now), expected, String(header))
  fc.assert(
    fc.property(fc.string(), (header) => {
      const ms = readRetryAfter(header, now)
      return ms === undefined || ms >= 0
    }),
  )
})

t.test('the start of a failed response is kept, and nothing of a successful one', async (t) => {
  let answer: RequestListener = answerWith(200, {}, 'fine')
  const server = await serve(t, (request, response) => answer(request, response))
  const sender = openSender(t)
  const bodyOf = async (listener: RequestListener) => {
    answer = listener
    const { output } = await sender.sendWebhook(webhook({ url: server.url }), context)
    return (output as { body?: string }).body
  }
  t.equal(await bodyOf(answer), undefined)
  t.equal(
    await bodyOf(answerWith(400, { 'content-type': 'application/problem+json' }, '{"a":"é"}')),
    '{"a":"é"}',
  )
  t.equal(
    await bodyOf(answerWith(500, { 'content-type': 'text/html; charset=x' }, '<h1>no</h1>\r\n\t')),
    '<h1>no</h1>\r\n\t',
  )
  t.equal(await bodyOf(answerWith(500, {}, 'no type')), 'no type')
  t.equal(await bodyOf(answerWith(500, {}, 'x'.repeat(70_000))), 'x'.repeat(1_000))
  t.equal(
    await bodyOf(answerWith(500, {}, `${'x'.repeat(999)}😀😀`)),
    `${'x'.repeat(999)}😀`,
    'a character is kept whole',
  )
  t.equal(await bodyOf(answerWith(500, {}, Buffer.from([0xff, 0x41]))), '\ufffdA')
  t.equal(await bodyOf(answerWith(500, { 'content-type': 'text/plain' }, 'nul \0')), undefined)
  t.equal(await bodyOf(answerWith(500, { 'content-type': 'image/png' }, 'png')), undefined)
  t.equal(await bodyOf(answerWith(500, { 'content-encoding': 'gzip' }, gzipSync('packed'))), undefined)
  t.equal(await bodyOf(answerWith(500, { 'content-encoding': 'gzip' }, 'not packed')), undefined)
  t.equal(await bodyOf(answerWith(400, { 'content-encoding': 'utf-8' }, 'no e-mail')), 'no e-mail')
  t.equal(await bodyOf(answerWith(400, { 'content-encoding': '' }, 'no e-mail')), 'no e-mail')
  t.equal(await bodyOf(answerWith(500)), undefined)
})

t.test('a body of more than 1 MiB is not sent', async (t) => {
  const server = await serve(t)
  const sender = openSender(t)
  const send = (body: string) => sender.sendWebhook(webhook({ url: server.url, body }), context)
  t.match(await send('é'.repeat(mebibyte / 2)), { error: 'The body is larger than 1 MiB', isFinal: true })
  t.equal(server.connections, 0)
  t.match(await send('x'.repeat(mebibyte - 2)), { status: 'success' })
  t.equal(server.calls[0]?.body.length, mebibyte)
})

t.test('at most 64 KiB of a response are read, and a longer one counts by its status', async (t) => {
  for (const statusCode of [200, 500]) {
    const closed: Promise<void>[] = []
    const server = await serve(t, (_request, response) => {
      closed.push(untilClosed(response))
      response.writeHead(statusCode, { 'content-type': 'text/plain' })
      void flood(response)
    })
    const effect = await openSender(t).sendWebhook(webhook({ url: server.url }), context)
    t.match(effect, { status: statusCode === 200 ? 'success' : 'failed', output: { statusCode } })
    await Promise.all(closed)
  }
})

async function flood(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write('x'.repeat(10_000))
    await setImmediate()
  }
}

t.test('the timeout ends a call and its connection in every phase before the status', async (t) => {
  const ways: Record<string, (socket: Socket) => void> = {
    'says nothing': () => {},
    'has half a status': (socket) => socket.write('HTTP/1.1 20'),
    'has headers without an end': (socket) => socket.write('HTTP/1.1 200 OK\r\nX: y\r\n'),
    'is not ready for ever': (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'),
  }
  await Promise.all(
    Object.entries(ways).map(async ([way, talk]) => {
      const closed: Promise<void>[] = []
      const server = await serveRaw(t, (socket) => {
        closed.push(untilClosed(socket))
        talk(socket)
      })
      const effect = await openSender(t).sendWebhook(webhook({ url: server.url, timeoutMs: 1_500 }), context)
      t.same(effect, { status: 'failed', error: 'Timed out after 1500 ms' }, way)
      await Promise.all(closed)
      t.equal(closed.length, 1)
    }),
  )
})

t.test('the timeout includes the DNS look-up and the TLS handshake', async (t) => {
  const closed: Promise<void>[] = []
  const server = await serveRaw(t, (socket) => void closed.push(untilClosed(socket)))
  const secure = webhook({ url: `https://127.0.0.1:${server.port}/`, timeoutMs: 1_500 })
  t.same(await openSender(t).sendWebhook(secure, context), {
    status: 'failed',
    error: 'Timed out after 1500 ms',
  })
  await Promise.all(closed)
  t.ok(server.bytes > 0, 'a greeting was sent')

  let answer = (_addresses: string[]) => {}
  const resolveHost = () =>
    new Promise<string[]>((resolve) => {
      answer = resolve
    })
  const sender = openSender(t, loopback, { resolveHost })
  const named = webhook({ url: `http://slow.example:${server.port}/`, timeoutMs: 100 })
  t.same(await sender.sendWebhook(named, context), { status: 'failed', error: 'Timed out after 100 ms' })
  answer(['127.0.0.1'])
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.equal(server.connections, 1, 'no connection is opened afterwards')
})

t.test("the timeout of the config has precedence over the action's", async (t) => {
  const server = await serveRaw(t, () => {})
  const sender = openSender(t)
  t.match(await sender.sendWebhook(webhook({ url: server.url, timeoutMs: 110 }, 120), context), {
    error: /after 110 ms/,
  })
  t.match(await sender.sendWebhook(webhook({ url: server.url }, 120), context), { error: /after 120 ms/ })
})

t.test('a broken connection is not a final failure', async (t) => {
  const ways: Record<string, (socket: Socket) => void> = {
    'hangs up': (socket) => socket.end(),
    resets: (socket) => socket.resetAndDestroy(),
    'resets after the question': (socket) => socket.once('data', () => socket.resetAndDestroy()),
    'speaks something else': (socket) => socket.end('220 mail.example ESMTP\r\n'),
    'speaks binary': (socket) => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70])),
    'has two lengths': (socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    'has a length that is none': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nab'),
    'wants another protocol': (socket) =>
      socket.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    'has headers for ever': (socket) => {
      const flood = () => {
        while (!socket.destroyed && socket.write(`X: ${'y'.repeat(1_000)}\r\n`));
      }
      socket.write('HTTP/1.1 200 OK\r\n')
      socket.on('drain', flood)
      flood()
    },
  }
  for (const [way, talk] of Object.entries(ways)) {
    const server = await serveRaw(t, talk)
    const effect = await openSender(t).sendWebhook(webhook({ url: server.url, timeoutMs: 5_000 }), context)
    t.match(effect, { status: 'failed', error: /^(?!No answer)./ }, way)
    t.notOk('isFinal' in effect, way)
  }
  t.match(await openSender(t).sendWebhook(webhook({ url: 'http://127.0.0.1:1/' }), context), {
    status: 'failed',
    error: 'connect ECONNREFUSED 127.0.0.1:1',
  })
  const several = openSender(t, loopback, { resolveHost: async () => ['127.0.0.1', '127.0.0.2'] })
  const nowhere = await several.sendWebhook(webhook({ url: 'http://x.example:1/' }), context)
  t.match(nowhere, { status: 'failed', error: 'connect ECONNREFUSED x.example:1' })
  const unknown = openSender(t, loopback, {
    resolveHost: () => Promise.reject(new Error('No address of x.example')),
  })
  t.same(await unknown.sendWebhook(webhook({ url: 'http://x.example/' }), context), {
    status: 'failed',
    error: 'No address of x.example',
  })
})

t.test('a call does not throw on any bytes that the server sends', async (t) => {
  let bytes = Buffer.alloc(0)
  const server = await serveRaw(t, (socket) => socket.once('data', () => socket.end(bytes)))
  const sender = openSender(t)
  const piece = fc.oneof(
    fc.constantFrom(
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 500 x\r\n',
      'HTTP/1.0 302 x\r\n',
      'HTTP/1.1 100 x\r\n\r\n',
      '\r\n',
      '0\r\n\r\n',
    ),
    fc.constantFrom(
      'Content-Length: 3\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Connection: close\r\n',
      'Content-Encoding: br\r\n',
    ),
    fc.constantFrom(
      'Retry-After: x\r\n',
      'Set-Cookie: a\r\n',
      'Keep-Alive: timeout=9\r\n',
      'Trailer: x\r\n',
      '3\r\nabc\r\n',
    ),
    fc.string({ maxLength: 20 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 10 }),
      fc.uint8Array({ maxLength: 20 }),
      async (pieces, rest) => {
        bytes = Buffer.concat([Buffer.from(pieces.join('')), rest])
        const { status } = await sender.sendWebhook(webhook({ url: server.url, timeoutMs: 5_000 }), context)
        return status === 'success' || status === 'failed'
      },
    ),
    { numRuns: 150 },
  )
})

t.test('calls to one origin share a connection in sequence, and never at the same time', async (t) => {
  const open: ServerResponse[] = []
  const server = await serve(t, (request, response) => {
    if (request.url === '/wait') open.push(response)
    else response.end('ok')
  })
  const sender = openSender(t)
  const call = (path: string) => sender.sendWebhook(webhook({ url: server.url + path }), context)
  for (let index = 0; index < 5; index++) await call('/')
  t.equal(server.connections, 1)
  const waiting = [call('/wait'), call('/wait'), call('/wait')]
  await until(() => open.length === 3)
  t.equal(server.connections, 3)
  for (const response of open) response.end()
  for (const effect of await Promise.all(waiting)) t.equal(effect.status, 'success')
  await Promise.all([call('/'), call('/'), call('/')])
  t.equal(server.connections, 3)
})

t.test('a connection that the server has closed is not used again', async (t) => {
  const server = await serve(t, (_request, response) => response.setHeader('connection', 'close').end('ok'))
  const sender = openSender(t)
  for (let index = 0; index < 3; index++)
    t.match(await sender.sendWebhook(webhook({ url: server.url }), context), { status: 'success' })
  t.equal(server.connections, 3)
})

t.test('at most 200 idle connections are kept, without counting closed ones', async (t) => {
  const held: ServerResponse[] = []
  let isHolding = true
  // The responses to the first 200 calls come at once: otherwise a busy machine would close the first idle connection before the last is opened.
  const server = await serve(t, (_request, response) => {
    if (!isHolding) return response.end()
    if (held.push(response) < 200) return
    isHolding = false
    for (const one of held) one.end()
  })
  const sender = openSender(t, loopback, { resolveHost: async () => ['127.0.0.1'] })
  const call = (host: string) =>
    sender.sendWebhook(webhook({ url: `http://${host}.example:${server.port}/` }, 30_000), context)
  const countNew = async (...hosts: string[]) => {
    const before = server.connections
    for (const host of hosts) await call(host)
    return server.connections - before
  }
  await Promise.all(Array.from({ length: 200 }, (_, index) => call(`x${index}`)))
  t.equal(await countNew('x0', 'x199'), 0)
  t.equal(await countNew('y', 'y'), 2)
  server.hangUp()
  // The sender notices it a moment later.
  while ((await countNew('y', 'y')) === 2);
  t.equal(await countNew('y', 'y'), 0)
})

t.test('closing the sender closes all connections', async (t) => {
  const closed: Promise<void>[] = []
  const server = await serveRaw(t, (socket) => {
    closed.push(untilClosed(socket))
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  })
  const sender = openSender(t)
  t.match(await sender.sendWebhook(webhook({ url: server.url }), context), { status: 'success' })
  sender.close()
  await Promise.all(closed)
  t.equal(closed.length, 1)
})

t.test('with a secret for the receiver, a call has a signature over id, time and sent bytes', async (t) => {
  const server = await serve(t)
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const recipients: Recipient[] = []
  const findKeys = async (recipient: Recipient) => {
    recipients.push(recipient)
    return { keys }
  }
  const sender = openSender(t, loopback, { findKeys, resolveHost: async () => ['127.0.0.1'] })
  const url = `http://Hooks.Example.:${server.port}/`
  const before = Math.floor(Date.now() / 1_000)
  await sender.sendWebhook(webhook({ url, body: { é: 1 } }), context)
  await sender.sendWebhook(webhook({ url, method: 'GET' }), context)
  t.same(recipients[0], { workspaceId: 'w', counterparty: 'hooks.example' })
  t.equal(server.calls.length, 2)
  for (const { headers, body } of server.calls) {
    const timestamp = String(headers['webhook-timestamp'])
    t.equal(headers['webhook-id'], key)
    t.ok(Number(timestamp) >= before && Number(timestamp) <= Date.now() / 1_000, 'the time of the attempt')
    const expected = keys.map(
      (secret) => `v1,${createHmac('sha256', secret).update(`${key}.${timestamp}.${body}`).digest('base64')}`,
    )
    t.equal(headers['webhook-signature'], expected.join(' '))
  }
})

t.test('an event of the service is signed with the secret of its subscription', async (t) => {
  const server = await serve(t)
  const recipients: Recipient[] = []
  const findKeys = async (recipient: Recipient) => {
    recipients.push(recipient)
    return { keys: [Buffer.alloc(32)] }
  }
  const sender = openSender(t, loopback, { findKeys })
  const call = (type: string, addressee: Addressee | null) =>
    sender.sendWebhook(webhook({ url: server.url }), {
      ...context,
      event: { ...context.event, type, addressee },
    })
  await call('rule.updated', { kind: 'subscription', id: 'subscription' })
  await call('LEAD_CREATED', { kind: 'rule', id: 'rule' })
  t.same(recipients, [
    { workspaceId: 'w', counterparty: 'subscription' },
    { workspaceId: 'w', counterparty: '127.0.0.1' },
  ])
  t.match(JSON.parse(server.calls[0]?.body ?? ''), { type: 'rule.updated', data: { team: 'blue' } })
})

t.test('an event of the service leads to the console', async (t) => {
  const server = await serve(t)
  const ruleId = '01a1fdbb-fa3e-7000-8000-dde8b4efbf8c'
  const executionId = context.executionId
  const findKeys = async () => ({ keys: [Buffer.alloc(32)] })
  const variables = { ...loopback, CONSOLE_URL: 'https://console.example/' }
  const addressee = { kind: 'subscription' as const, id: 'subscription' }
  const read = async (type: string, data: object, to: Addressee | null = addressee, env = variables) => {
    const sender = openSender(t, env, { findKeys })
    const event = { ...context.event, type, data, addressee: to }
    await sender.sendWebhook(webhook({ url: server.url }), { ...context, event })
    return JSON.parse(server.calls.at(-1)?.body ?? '').consoleUrl
  }
  const base = 'https://console.example/w/w'
  t.equal(await read('rule.updated', { ruleId }), `${base}/rules/${ruleId}`)
  t.equal(await read('execution.failed', { ruleId, executionId }), `${base}/executions?id=${executionId}`)
  t.equal(await read('receipt.rejected', { key: 'x' }), `${base}/webhooks?state=rejected`)
  t.equal(await read('rule.deleted', { ruleId }), undefined)
  t.equal(await read('subscription.ping', {}), undefined)
  t.equal(await read('rule.updated', { ruleId: '../x' }), undefined, 'only ids are put into a link')
  t.equal(await read('LEAD_CREATED', { ruleId }, null), undefined, 'an event of a rule is sent as it is')
  t.equal(
    await read('rule.updated', { ruleId }, addressee, loopback as never),
    undefined,
    'without a console',
  )
})

t.test('without a secret, a call has no headers of a signature', async (t) => {
  const server = await serve(t)
  await openSender(t).sendWebhook(webhook({ url: server.url }), context)
  t.same(
    Object.keys(server.calls[0]?.headers ?? {}).filter((name) => name.startsWith('webhook-')),
    [],
  )
})

t.test('an event of the service is never sent unsigned', async (t) => {
  const server = await serve(t)
  const addressee = { kind: 'subscription' as const, id: 'subscription' }
  const event = { ...context.event, type: 'rule.updated', addressee }
  t.match(await openSender(t).sendWebhook(webhook({ url: server.url }), { ...context, event }), {
    error: 'The subscription has no signing secret',
    isFinal: true,
  })
  t.equal(server.connections, 0)
})

t.test('a call fails if its secret does not open, and nothing is sent unsigned', async (t) => {
  const server = await serve(t)
  const faulty = openSender(t, loopback, { findKeys: async () => ({ fault: 'It does not open' }) })
  t.same(await faulty.sendWebhook(webhook({ url: server.url }), context), {
    status: 'failed',
    error: 'It does not open',
    isUncalled: true,
  })
  const away = openSender(t, loopback, { findKeys: () => Promise.reject(new Error('Postgres is away')) })
  await t.rejects(away.sendWebhook(webhook({ url: server.url }), context), { message: 'Postgres is away' })
  t.equal(server.connections, 0)
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate()
}

/** Whether the connection was closed regularly or reset. */
function untilClosed(connection: EventEmitter): Promise<void> {
  return new Promise((resolve) => connection.once('close', () => resolve()))
}

t.test('a call continues the trace of its event, unless the rule sets the header itself', async (t) => {
  const server = await serve(t)
  const sender = openSender(t)
  const traced = { ...context, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
  const headers = { TraceParent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00` }
  await sender.sendWebhook(webhook({ url: server.url }), traced)
  await sender.sendWebhook(webhook({ url: server.url, headers }), traced)
  await sender.sendWebhook(webhook({ url: server.url }), context)
  t.strictSame(
    server.calls.map((call) => call.headers.traceparent),
    [traced.traceparent, headers.TraceParent, undefined],
  )
})

t.test(
  'a delivery is signed with the secret of its subscription, any other call with that of its host',
  async (t) => {
    const server = await serve(t)
    const asked: Recipient[] = []
    const findKeys = async (recipient: Recipient) => {
      asked.push(recipient)
      return { keys: [Buffer.from('key')] }
    }
    const sender = openSender(t, loopback, { findKeys })
    const call = (type: string, addressee: Addressee | null) =>
      sender.sendWebhook(webhook({ url: server.url }), {
        ...context,
        event: { ...context.event, type, addressee },
      })
    await call('execution.failed', { kind: 'subscription', id: 'subscription' })
    await call('execution.failed', null)
    await call('LEAD_CREATED', { kind: 'rule', id: 'rule' })
    const { workspaceId } = context.event
    t.strictSame(asked, [
      { workspaceId, counterparty: 'subscription' },
      { workspaceId, counterparty: '127.0.0.1' },
      { workspaceId, counterparty: '127.0.0.1' },
    ])
    t.equal(server.calls.length, 3)
  },
)

t.test('closing the sender aborts the calls under way', async (t) => {
  const server = await serve(t, () => {})
  const sender = openSender(t)
  const call = sender.sendWebhook(webhook({ url: server.url }, 60_000), context)
  while (server.calls.length === 0) await setImmediate()
  sender.close()
  t.match(await call, { status: 'failed', error: /^(?!No answer)./ })
})

t.test('if the first address of a name refuses the connection, the next one is tried', async (t) => {
  const server = await serve(t)
  const resolveHost = async () => ['127.0.0.2', '127.0.0.3', '127.0.0.1']
  const sender = openSender(t, loopback, { resolveHost })
  const url = `http://hooks.example:${server.port}/`
  t.match(await sender.sendWebhook(webhook({ url }), context), { status: 'success' })
  t.equal(server.calls.length, 1)
})

t.test('a URL without a port uses port 80, or 443 for https', async (t) => {
  const sender = openSender(t)
  for (const [scheme, port] of Object.entries({ http: 80, https: 443 })) {
    // If a server listens on that port, any response is accepted.
    const effect = await sender.sendWebhook(webhook({ url: `${scheme}://127.0.0.1/` }), context)
    if (effect.status === 'failed' && effect.error.startsWith('connect'))
      t.equal(effect.error, `connect ECONNREFUSED 127.0.0.1:${port}`)
  }
})
