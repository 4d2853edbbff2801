import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { startPatientClock } from '@automation/launcher/patient-clock'
import t from 'tap'
import { openApiInTrouble } from './fixtures/api-in-trouble.js'
import { signIn, startConsole } from './fixtures/console.js'

// Each only waits.
t.jobs = 2
const large = Buffer.alloc(24_000_000, 'x')

async function open(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** Waits until it is closed from the other side. A paused socket does not notice its end, a write does. */
async function untilEnded(socket: Socket, isEnded: () => Promise<boolean>): Promise<void> {
  while (!(await isEnded())) await new Promise((resolve) => setTimeout(resolve, 200))
  socket.destroy()
}

t.test(
  'who sends a body without an end is cut off after ten seconds, on the way to the API as well',
  async (t) => {
    const api = await openApiInTrouble(t)
    const console = await startConsole(t, { CONSOLE_API_URL: api.url })
    const cookie = await signIn(console)
    await console.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = console.app.server.address() as { port: number }
    const head = (path: string) =>
      [
        `POST ${path} HTTP/1.1`,
        'host: 127.0.0.1:3003',
        'origin: http://127.0.0.1:3003',
        'content-type: application/json',
        `cookie: ${cookie}`,
        'content-length: 1000\r\n\r\n{',
      ].join('\r\n')
    const sockets = await Promise.all(['/api/x', '/session/link'].map((path) => open(port, head(path))))
    const clock = startPatientClock()
    const dripping = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(' ')
    }, 500)
    t.teardown(() => clearInterval(dripping))
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
    t.ok(clock() < 20_000, `${clock()} ms`)
    while (api.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  },
)

t.test('who does not read a response is cut off, and the API does not wait for them', async (t) => {
  const api = await openApiInTrouble(t, (_request, response) => response.end(large))
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  const cookie = await signIn(console)
  await console.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = console.app.server.address() as { port: number }
  const socket = await open(port, `GET /api/x HTTP/1.1\r\nhost: 127.0.0.1:3003\r\ncookie: ${cookie}\r\n\r\n`)
  while (api.open.size === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const clock = startPatientClock()
  await untilEnded(
    socket,
    () =>
      new Promise((resolve) => console.app.server.getConnections((_error, count) => resolve(count === 0))),
  )
  t.ok(clock() < 40_000, `${clock()} ms`)
  while (api.open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(api.open.size, 0)
})
