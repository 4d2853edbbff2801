import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Effect } from '@automation/engine'
import { startPatientClock } from '@automation/launcher/patient-clock'
import t, { type Test } from 'tap'
import { readRetryAfter } from '../src/effects/read-response.js'
import { context, openSender, serve, serveRaw, webhook } from './fixtures/outbound.js'

/** Calls a server that talks like this, and waits until the connection is closed. */
async function callRaw(t: Test, talk: (socket: Socket) => void, timeoutMs = 30_000): Promise<Effect> {
  const closed: Promise<void>[] = []
  const server = await serveRaw(t, (socket) => {
    closed.push(new Promise((resolve) => socket.once('close', () => resolve())))
    socket.once('data', () => talk(socket))
  })
  const effect = await openSender(t).sendWebhook(webhook({ url: server.url, timeoutMs }), context)
  await Promise.all(closed)
  t.equal(closed.length, 1)
  return effect
}

async function call(t: Test, answer: RequestListener, path = '/'): Promise<Effect> {
  const { url } = await serve(t, answer)
  return openSender(t).sendWebhook(webhook({ url: url + path }), context)
}

const drip = (socket: Socket, head: string) => {
  socket.write(head)
  const timer = setInterval(() => socket.write('x'), 5)
  socket.on('close', () => clearInterval(timer))
}

/** Ways in which a body does not end well, after the status line. */
const badBodies: Record<string, (socket: Socket, line: string) => void> = {
  'is reset': (socket, line) =>
    socket.write(`${line}Content-Length: 10\r\n\r\nabc`, () => socket.resetAndDestroy()),
  'is cut': (socket, line) => socket.end(`${line}Content-Length: 10\r\n\r\nabc`),
  'is cut in a chunk': (socket, line) => socket.end(`${line}Transfer-Encoding: chunked\r\n\r\n5\r\nab`),
  'has a chunk that is none': (socket, line) => socket.end(`${line}Transfer-Encoding: chunked\r\n\r\nzz\r\n`),
  'never comes': (socket, line) => socket.write(`${line}Content-Length: 10\r\n\r\n`),
  'never ends': (socket, line) => socket.write(`${line}Content-Length: 10\r\n\r\nabc`),
  'drips without an end': (socket, line) => drip(socket, `${line}Transfer-Encoding: chunked\r\n\r\n5\r\n`),
  'has no length and is reset': (socket, line) =>
    socket.write(`${line}\r\nabc`, () => socket.resetAndDestroy()),
}

t.test('the status decides, however the body ends', async (t) => {
  for (const [way, talk] of Object.entries(badBodies)) {
    const of = (status: number) =>
      callRaw(t, (socket) => talk(socket, `HTTP/1.1 ${status} x\r\nContent-Type: text/plain\r\n`))
    const clock = startPatientClock()
    const [good, wrong, busy] = await Promise.all([of(200), of(400), of(503)])
    t.same(good, { status: 'success', output: { statusCode: 200 } }, way)
    t.match(wrong, { status: 'failed', error: 'HTTP 400', isFinal: true, output: { statusCode: 400 } }, way)
    t.match(busy, { status: 'failed', error: 'HTTP 503', output: { statusCode: 503 } }, way)
    t.notOk('isFinal' in busy, way)
    t.ok(clock() < 20_000, `${way}: no timeout of the call`)
  }
})

t.test('204 and 304 with a length are what they say', async (t) => {
  for (const length of [2, 5, 100_000]) {
    const of = (status: number) =>
      callRaw(t, (socket) => socket.write(`HTTP/1.1 ${status} x\r\nContent-Length: ${length}\r\n\r\n{}`))
    t.same(await of(204), { status: 'success', output: { statusCode: 204 } })
    t.match(await of(304), { status: 'failed', error: 'HTTP 304', isFinal: true })
  }
})

t.test('the timeout of a call does not undo a status that came in time', async (t) => {
  // A body has a second of its own.
  const timeoutMs = 900
  await Promise.all(
    Object.values(badBodies).map(async (talk) => {
      const of = (status: number) =>
        callRaw(t, (socket) => talk(socket, `HTTP/1.1 ${status} x\r\n`), timeoutMs)
      t.match(await of(200), { status: 'success' })
      t.match(await of(422), { status: 'failed', error: 'HTTP 422', isFinal: true })
    }),
  )
})

t.test('what came of a failed body is kept', async (t) => {
  for (const way of ['is reset', 'is cut', 'never ends']) {
    const effect = await callRaw(t, (socket) =>
      badBodies[way]?.(socket, 'HTTP/1.1 400 x\r\nContent-Type: text/plain\r\n'),
    )
    t.same(effect.output, { statusCode: 400, body: 'abc' }, way)
  }
})

t.test('a redirect says where it leads, and 304 is none', async (t) => {
  const redirect = (status: number, location?: string) =>
    call(
      t,
      (_request, response) => response.writeHead(status, location === undefined ? {} : { location }).end(),
      '/a/b?c',
    )
  const origin = /http:\/\/127\.0\.0\.1:\d+/.source
  for (const [location, target] of [
    ['https://new.example/hook?x=1', /https:\/\/new\.example\/hook\?x=1/.source],
    ['/elsewhere', `${origin}/elsewhere`],
    ['d/', `${origin}/a/d/`],
    ['http://[', /http:\/\/\[/.source],
  ] as const) {
    const error = new RegExp(`^HTTP 308: redirects are not followed; this one leads to ${target}$`)
    t.match(await redirect(308, location), { error, isFinal: true }, location)
  }
  for (const location of [undefined, ''])
    t.match(await redirect(302, location), { error: /^HTTP 302: redirects are not followed$/, isFinal: true })
  const long = await redirect(301, `https://new.example/${'x'.repeat(5_000)}`)
  t.equal(long.status === 'failed' && long.error.length, 500)
  for (const status of [300, 304, 305, 306])
    t.match(await redirect(status, '/x'), { error: new RegExp(`^HTTP ${status}$`), isFinal: true })
})

t.test('the text of an error is decoded as the receiver declares it', async (t) => {
  const textOf = async (type: string | undefined, body: Buffer) => {
    const headers = type === undefined ? {} : { 'content-type': type }
    const { output } = await call(t, (_request, response) => response.writeHead(500, headers).end(body))
    return (output as { body?: string }).body
  }
  const utf16 = Buffer.from('Größe €', 'utf16le')
  const bigEndian = Buffer.from(utf16).swap16()
  const latin = Buffer.from('Größe', 'latin1')
  t.equal(await textOf('text/plain; charset=iso-8859-1', latin), 'Größe')
  t.equal(await textOf('application/problem+json;charset="ISO-8859-15"', Buffer.from([0xa4])), '€')
  t.equal(await textOf('text/html; Charset=windows-1252; x=y', Buffer.from([0xe4, 0xf6])), 'äö')
  t.equal(await textOf('text/plain; charset=utf-16le', utf16), 'Größe €')
  t.equal(await textOf('text/plain; charset=utf-16be', bigEndian), 'Größe €')
  t.equal(
    await textOf('text/plain; charset=utf-16', Buffer.concat([Buffer.from([0xfe, 0xff]), bigEndian])),
    'Größe €',
  )
  t.equal(await textOf('text/plain', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])), 'Größe €')
  t.equal(await textOf('text/plain; charset=shift_jis', Buffer.from([0x93, 0xfa, 0x96, 0x7b])), '日本')
  t.equal(await textOf('text/plain; charset=latin1', Buffer.from('\ufeffä')), 'ä', 'the mark is right')
  t.equal(await textOf('text/plain; charset=klingon', Buffer.from('ä')), 'ä')
  t.equal(await textOf('text/plain; charset=', Buffer.from('ä')), 'ä')
  t.equal(await textOf('text/plain', latin), 'Gr\ufffd\ufffde', 'nothing is guessed')
})

t.test('Retry-After has seconds of any length, and dates in all three forms', (t) => {
  const now = Date.parse('1994-11-06T08:49:00Z')
  const cases: [string, number | undefined][] = [
    ['1000000000', 1_000_000_000_000],
    ['99999999999', 99_999_999_999_000],
    ['00000000000000000007', 7_000],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun Nov 06 08:49:37 1994', 37_000],
    ['Sun Nov 6 08:49:37 1994', 37_000],
    ['Wed Nov 16 08:49:00 1994', 864_000_000],
    ['Sun Nov  6 08:48:37 1994', 0],
    ['Sun Nov  6 08:49:37', undefined],
    ['Sun Foo  6 08:49:37 1994', undefined],
    ['1994', 1_994_000],
    ['Nov 6 1994', undefined],
  ]
  for (const [header, expected] of cases) t.equal(readRetryAfter(header, now), expected, header)
  t.end()
})
