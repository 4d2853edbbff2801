import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import { refuseBrokenRequest } from '../../src/server/refuse-broken-request.js'

const app = Fastify({ clientErrorHandler: refuseBrokenRequest })
app.post('/', async () => 'done')
app.get('/slow', async () => Readable.from(slowly()))
await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())
const { port } = app.server.address() as AddressInfo

const start = 'POST / HTTP/1.1\r\nHost: localhost\r\n'
/** Characters, many more than Node reads at a time. */
const much = 1_000_000

async function* slowly() {
  yield 'first'
  await setTimeout(1_000)
  yield 'last'
}

/** @returns the whole response. @throws where the connection was reset */
async function send(text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(text)
  return (await buffer(socket)).toString()
}

const inChunks = `${start}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
const tooLarge = [
  '431 Request Header Fields Too Large',
  'headers_too_large',
  'The URL and the headers are too large',
] as const
const notHttp = ['400 Bad Request', 'invalid_http', 'The request is not valid HTTP'] as const
type Expected = readonly [status: string, code: string, error: string]
const broken: [title: string, expected: Expected, text: string][] = [
  ['a flood of headers', tooLarge, start + 'X-Flood: 1\r\n'.repeat(much / 12)],
  ['a long URL', tooLarge, `GET /?${'a'.repeat(much)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['no HTTP at all', notHttp, 'x'.repeat(much)],
  ['chunks of no hex', notHttp, `${inChunks}${'xyz\r\n'.repeat(much / 5)}`],
]
for (const [title, [status, code, error], text] of broken)
  t.test(`${title}: the caller gets the refusal, and no reset`, async (t) => {
    const [head = '', body = ''] = (await send(text)).split('\r\n\r\n')
    const lines = head.split('\r\n')
    t.equal(lines[0], `HTTP/1.1 ${status}`)
    t.ok(lines.includes('Connection: close'))
    t.ok(lines.includes(`X-Error-Code: ${code}`))
    t.ok(lines.includes(`Content-Length: ${body.length}`))
    t.strictSame(JSON.parse(body), { error })
  })

t.test('a response under way gets nothing in its middle', async (t) => {
  const socket = connect(port, '127.0.0.1')
  const parts: Buffer[] = []
  socket.on('error', () => {})
  socket.on('data', (part) => parts.push(part))
  socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  while (!parts.join('').includes('first')) await once(socket, 'data')
  socket.write('x'.repeat(much))
  await new Promise((resolve) => socket.once('close', resolve))
  t.notMatch(parts.join(''), '400 Bad Request')
})

t.test('a caller who goes on sending is cut off', async (t) => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write('x'.repeat(much))
  const timer = setInterval(() => socket.write('x'.repeat(1_000)), 20)
  t.teardown(() => clearInterval(timer))
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  t.pass('closed')
})
