import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { type Api, rules, startApi } from '../fixtures/api.js'

const sockets = 20
/** Of each: what the kernel takes in (up to 10 MB) must not be all. */
const requests = 8
const script = '/docs/api/js/scalar.js'
/** Of 560 MB, if each response were a copy. */
const mostBytes = 150_000_000
/** By then nobody who reads nothing may hold a connection, also on a busy machine: 35 s on an idle one. */
const boundMs = 70_000

async function listen(api: Api): Promise<number> {
  return Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
}

/** Asks and does not read. */
async function ask(port: number, path: string, times = 1): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(times))
  return socket
}

const countConnections = ({ app }: Api) =>
  new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))

t.test(`${sockets} connections that do not read the script are closed, and hold no copies`, async (t) => {
  const api = await startApi(t)
  const port = await listen(api)
  await api.app.inject(script)
  const before = process.memoryUsage().rss
  const since = performance.now()
  const held = await Promise.all(Array.from({ length: sockets }, () => ask(port, script, requests)))
  t.teardown(() => {
    for (const socket of held) socket.destroy()
  })
  await setTimeout(2_000)
  t.equal(await countConnections(api), sockets)
  let most = 0
  while ((await countConnections(api)) > 0 && performance.now() - since < 2 * boundMs) {
    most = Math.max(most, process.memoryUsage().rss - before)
    await setTimeout(200)
  }
  const ms = performance.now() - since
  t.ok(ms < boundMs, `gone after ${Math.round(ms)} ms`)
  t.ok(most < mostBytes, `${Math.round(most / 1e6)} MB`)
  t.equal((await api.app.metrics.slowReaders.get()).values[0]?.value, sockets, 'and each is counted')
})

t.test(
  'a caller who reads slowly, waits for an outcome, or keeps a connection open is not cut off',
  async (t) => {
    const api = await startApi(t)
    const port = await listen(api)
    const { id, tokens } = await api.makeWorkspace()

    async function readSlowly(): Promise<number> {
      const socket = await ask(port, script)
      let bytes = 0
      socket.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes >= 3_500_000) socket.destroy()
        else {
          socket.pause()
          void setTimeout(500).then(() => socket.resume())
        }
      })
      socket.resume()
      await once(socket, 'close')
      return bytes
    }

    async function waitForOutcome(): Promise<{ status: number; seconds: number }> {
      const since = performance.now()
      const response = await fetch(`http://127.0.0.1:${port}${rules}/trigger/LEAD_CREATED`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${tokens.admin}`,
          'x-workspace-id': id,
          prefer: 'wait=30',
        },
        body: '{"data":{}}',
      })
      return { status: response.status, seconds: (performance.now() - since) / 1_000 }
    }

    async function keepForLater(): Promise<string> {
      const socket = (await ask(port, '/healthz')).resume()
      await once(socket, 'data')
      await setTimeout(40_000)
      socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
      const [bytes] = await once(socket, 'data')
      socket.destroy()
      return String(bytes).slice(0, 12)
    }

    const since = performance.now()
    const reading = readSlowly().then((bytes) => ({ bytes, seconds: (performance.now() - since) / 1_000 }))
    const [read, waited, later] = await Promise.all([reading, waitForOutcome(), keepForLater()])
    t.ok(read.bytes >= 3_500_000, `${read.bytes} bytes in ${read.seconds} s`)
    t.ok(read.seconds > 20)
    t.equal(waited.status, 202)
    t.ok(waited.seconds > 29, `${waited.seconds} s`)
    t.equal(later, 'HTTP/1.1 200')
  },
)
