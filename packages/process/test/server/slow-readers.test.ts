import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { paceLimits, ReadingPace } from '../../src/server/reading-pace.js'
import { slowReaders } from '../../src/server/slow-readers.js'

const { minRate, stallMs, windowMs } = paceLimits
const lookEveryMs = 5_000

/** Looks at a caller who takes these bytes every so many ms. @returns when (ms) it is too slow; undefined: not within ten minutes */
function findEnd(bytes: number, everyMs: number): number | undefined {
  const pace = new ReadingPace(paceLimits, 0, 0)
  for (let now = lookEveryMs; now <= 600_000; now += lookEveryMs)
    if (pace.isTooSlow(now, Math.floor(now / everyMs) * bytes)) return now
  return undefined
}

t.test('a caller who takes nothing is too slow after 30 s', async (t) => {
  t.equal(findEnd(0, 1_000), stallMs)
})

t.test('a caller who takes a little every 14 s is too slow after a minute', async (t) => {
  t.equal(findEnd(1_000, 14_000), windowMs)
})

t.test('a caller who takes the least rate on average may pause for 14 s', async (t) => {
  t.equal(findEnd(2 * minRate, 1_000), undefined)
  t.equal(findEnd(2 * 14 * minRate, 14_000), undefined)
})

t.test('a caller who was fast once has saved up nothing', async (t) => {
  const pace = new ReadingPace(paceLimits, 0, 0)
  t.notOk(pace.isTooSlow(windowMs, 100_000_000))
  for (let ms = lookEveryMs; ms < windowMs; ms += lookEveryMs)
    t.notOk(pace.isTooSlow(windowMs + ms, 100_000_000 + ms))
  t.ok(pace.isTooSlow(2 * windowMs, 100_000_000 + windowMs))
})

const mebibyte = 1_048_576

/** Asks for 64 MiB in one chunk, and reads it a little at a time. */
async function read(t: Test, options: Parameters<typeof slowReaders>[1]) {
  const app = Fastify()
  await app.register(slowReaders, options)
  app.get('/', async () => Buffer.alloc(64 * mebibyte))
  t.teardown(() => app.close())
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const socket = connect({ port, host: '127.0.0.1' })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 5)
  })
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  await once(socket, 'close')
  return bytes
}

const patient = { stallMs: 600_000, windowMs: 600_000, minRate: 1 }

t.test(
  'a connection whose caller reads below the least rate is closed and noted once, and others get all',
  async (t) => {
    let closed = 0
    const options = { everyMs: 20, noteClosed: () => void closed++ }
    t.ok((await read(t, { ...options, limits: patient })) > 64 * mebibyte)
    t.equal(closed, 0)
    const limits = { ...patient, windowMs: 100, minRate: 1_000_000 * mebibyte }
    t.ok((await read(t, { ...options, limits })) < 64 * mebibyte)
    t.equal(closed, 1)
  },
)
