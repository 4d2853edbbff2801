import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { openApiInTrouble, until } from '../fixtures/api-in-trouble.js'
import { type Console, signIn, startConsole } from '../fixtures/console.js'

/** Keeps what the console logs for requests, as `<level> <message>`. */
function keepLog({ app }: Console): string[] {
  const lines: string[] = []
  const keep = (level: string) => (first: unknown, message?: string) =>
    void lines.push(`${level} ${message ?? first}`)
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
  const recorder = Object.fromEntries(levels.map((level) => [level, keep(level)]))
  Object.assign(app.log, { child: () => recorder })
  return lines
}

async function send({ app }: Console, cookie: string, request: string[]): Promise<Socket> {
  const { port } = app.server.address() as { port: number }
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  const [line, ...rest] = request
  const origin = 'origin: http://127.0.0.1:3003'
  socket.write([line, 'host: 127.0.0.1:3003', origin, `cookie: ${cookie}`, ...rest].join('\r\n'))
  return socket
}

const json = 'content-type: application/json'

t.test('a browser that leaves is no fault of the API', async (t) => {
  const api = await openApiInTrouble(t)
  const console = await startConsole(t, { CONSOLE_API_URL: api.url })
  const cookie = await signIn(console)
  await console.app.listen({ host: '127.0.0.1', port: 0 })
  const lines = keepLog(console)
  const cutOff = ['POST /api/x HTTP/1.1', json, 'content-length: 1000', '\r\n{']
  for (const request of [['GET /api/x HTTP/1.1', '\r\n'], cutOff]) {
    const socket = await send(console, cookie, request)
    await until(() => api.open.size === 1)
    socket.destroy()
    await until(() => api.open.size === 0)
  }
  await until(() => lines.length >= 2)
  t.strictSame(lines, ['debug the browser disconnected', 'debug the browser disconnected'])
})

t.test('an API that is away, or ends the connection, is warned of', async (t) => {
  const away = await startConsole(t, { CONSOLE_API_URL: 'http://127.0.0.1:1' })
  const api = await openApiInTrouble(t, (request) => request.socket.destroy())
  const broken = await startConsole(t, { CONSOLE_API_URL: api.url })
  for (const console of [away, broken]) {
    const cookie = await signIn(console)
    await console.app.listen({ host: '127.0.0.1', port: 0 })
    const lines = keepLog(console)
    for (const request of [
      ['GET /api/x HTTP/1.1', '\r\n'],
      ['POST /api/x HTTP/1.1', json, 'content-length: 2', '\r\n{}'],
    ]) {
      const socket = await send(console, cookie, request)
      const [response] = await once(socket, 'data')
      t.match(String(response), /^HTTP\/1.1 503 /)
      socket.destroy()
    }
    t.strictSame(lines, ['warn the API does not respond', 'warn the API does not respond'])
  }
})
