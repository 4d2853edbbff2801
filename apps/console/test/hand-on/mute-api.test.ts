import { startPatientClock } from '@automation/launcher/patient-clock'
import { createBox } from '@automation/process/sign-in'
import t from 'tap'
import { openApiInTrouble, until } from '../fixtures/api-in-trouble.js'
import { goodToken, secret, signIn, startConsole } from '../fixtures/console.js'

/** A write is given 40 s: only the largest run has so long. */
const isLarge = process.env.TEST_LARGE !== undefined
const later = 'Try again in a moment.'

/** Cookies of as many sessions as a test needs. */
const sealSession = (bearer: string) =>
  createBox(secret, 'session')
    .seal({ id: bearer, bearer }, Math.floor(Date.now() / 1_000) + 600)
    .then((sealed) => `rules-console-3003=${sealed}`)

t.test(
  'a mute API: a read gets 504 after 15 s and a write after 40 s, and both free their slots',
  async (t) => {
    const api = await openApiInTrouble(t)
    const console = await startConsole(t, { CONSOLE_API_URL: api.url })
    const cookie = await signIn(console)
    const since = performance.now()
    const clock = startPatientClock()
    const timed = async (method: 'GET' | 'POST') => {
      const response = await console.ask('/api/x', {
        method,
        headers: { cookie },
        ...(method === 'POST' && { payload: {} }),
      })
      return { response, seconds: (performance.now() - since) / 1_000, clockMs: clock() }
    }
    const writing = isLarge ? timed('POST') : undefined
    const reads = await Promise.all(Array.from({ length: 7 }, () => timed('GET')))
    for (const { response, seconds, clockMs } of reads) {
      t.equal(response.statusCode, 504)
      t.same(response.json(), { error: `The API did not respond in time. ${later}` })
      t.equal(response.headers['retry-after'], '2')
      t.equal(response.headers['cache-control'], 'no-store')
      t.ok(seconds > 14 && clockMs < 25_000, `${seconds} s`)
    }
    await until(() => api.open.size === (writing ? 1 : 0))
    if (writing === undefined) return
    const { response, seconds, clockMs } = await writing
    t.equal(response.statusCode, 504)
    t.match(response.json().error, /may have done what you asked for/)
    t.ok(seconds > 39 && clockMs < 50_000, `${seconds} s`)
    await until(() => api.open.size === 0)
  },
)

t.test(
  'the ninth request of a session, the 33rd of an address and the 65th of all are refused at once',
  async (t) => {
    const api = await openApiInTrouble(t)
    const { app, ask } = await startConsole(t, { CONSOLE_API_URL: api.url })
    const cookies = await Promise.all(Array.from({ length: 10 }, (_, i) => sealSession(`${goodToken}-${i}`)))
    const send = (i: number, remoteAddress: string) =>
      ask('/api/x', { headers: { cookie: cookies[i] }, remoteAddress })
    const hold = async (i: number, remoteAddress: string, count: number) => {
      const before = api.count()
      for (let n = 0; n < count; n++) void send(i, remoteAddress).catch(() => {})
      await until(() => api.count() === before + count)
    }
    await hold(0, '10.0.0.1', 8)
    const ninth = await send(0, '10.0.0.1')
    t.equal(ninth.statusCode, 429)
    t.equal(ninth.headers['retry-after'], '1')
    t.same(ninth.json(), { error: 'Too many requests at a time' })
    for (const i of [1, 2, 3]) await hold(i, '10.0.0.1', 8)
    t.equal((await send(4, '10.0.0.1')).statusCode, 429, 'another session of the same address')
    for (const i of [4, 5, 6, 7]) await hold(i, '10.0.0.2', 8)
    const last = await send(8, '10.0.0.3')
    t.equal(last.statusCode, 503)
    t.equal(last.headers['retry-after'], '1')
    t.same(last.json(), { error: `The console is busy. ${later}` })
    t.equal(api.count(), 64)
    t.equal((await app.inject('/healthz')).statusCode, 200)
  },
)

t.test('a browser that leaves frees its slot, and its connection to the API', async (t) => {
  const api = await openApiInTrouble(t)
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  const cookie = await signIn(console)
  await console.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = console.app.server.address() as { port: number }
  for (let round = 1; round <= 3; round++) {
    const leaving = new AbortController()
    const visits = Array.from({ length: 8 }, () => askAs({ port, cookie, signal: leaving.signal }))
    await until(() => api.open.size === 8)
    leaving.abort()
    await Promise.all(visits)
    await until(() => api.open.size === 0)
  }
  t.equal(api.count(), 24, 'none was refused, although the API responded to none')
})

t.test('an API that begins a response and stops: the browser is not left waiting', async (t) => {
  const api = await openApiInTrouble(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('{')
    setTimeout(() => response.destroy(), 200)
  })
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  const cookie = await signIn(console)
  await console.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = console.app.server.address() as { port: number }
  t.equal(await askAs({ port, cookie }), 'broken')
  await until(() => api.open.size === 0)
})

/** @returns the status; 'broken' where the connection ended before the response */
async function askAs({ port, cookie, signal }: { port: number; cookie: string; signal?: AbortSignal }) {
  const { request } = await import('node:http')
  return new Promise<number | 'broken' | undefined>((resolve) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        path: '/api/x',
        headers: { host: '127.0.0.1:3003', cookie },
        ...(signal && { signal }),
      },
      (response) => {
        response.on('error', () => resolve('broken'))
        response.on('end', () => resolve(response.statusCode))
        response.resume()
      },
    )
    asked.on('error', () => resolve('broken'))
    asked.end()
  })
}
