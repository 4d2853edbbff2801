import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { rules, startApi } from '../../fixtures/api.js'

const sockets = 500
/** After this time no socket without a complete request may be open. */
const boundMs = 15_000

const head = `POST ${rules} HTTP/1.1\r\nhost: localhost\r\n`
/** The part that is sent at once, and the part that is then sent slowly and without an end. */
const kinds = [
  { name: 'nothing', first: '', drip: '' },
  { name: 'a slow header', first: head, drip: 'x-a: b\r\n' },
  { name: 'half a line', first: 'POS', drip: 'T' },
  {
    name: 'a slow body',
    first: `${head}content-type: application/json\r\ncontent-length: 90000\r\n\r\n{`,
    drip: ' ',
  },
  {
    name: 'slow chunks',
    first: `${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    drip: '1\r\n \r\n',
  },
]

t.test(
  `${sockets} sockets without a complete request are closed, and other requests get responses`,
  async (t) => {
    const api = await startApi(t)
    const { port } = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
    const open = new Set<Socket>()
    const held = Array.from({ length: sockets }, async (_, index) => {
      const kind = kinds[index % kinds.length] as (typeof kinds)[number]
      const socket = connect(Number(port), '127.0.0.1')
      // It may be refused, reset or get a response: only the end of the socket counts.
      socket.on('error', () => {}).resume()
      open.add(socket)
      await once(socket, 'connect')
      const since = Date.now()
      socket.write(kind.first)
      const dripping = setInterval(() => socket.write(kind.drip), 500)
      // Not once() of node:events, which rejects on an error.
      await new Promise((resolve) => socket.once('close', resolve))
      clearInterval(dripping)
      open.delete(socket)
      return { name: kind.name, ms: Date.now() - since }
    })
    t.teardown(() => {
      for (const socket of open) socket.destroy()
    })

    const ended = Promise.all(held)
    let answered = 0
    while (open.size > 0) {
      const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(5_000) })
      t.equal(response.status, 200)
      answered++
      const first = await Promise.race([ended, delay(500)])
      if (first !== undefined) break
    }
    const longest = new Map<string, number>()
    for (const { name, ms } of await ended) longest.set(name, Math.max(longest.get(name) ?? 0, ms))
    t.comment(
      `longest held, in ms: ${JSON.stringify(Object.fromEntries(longest))}; ${answered} others answered`,
    )
    for (const [name, ms] of longest) t.ok(ms <= boundMs, `${name}: ${ms} ms`)
  },
)
