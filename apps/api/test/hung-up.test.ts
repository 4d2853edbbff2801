import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { rules, startApi } from './fixtures/api.js'

t.test('a caller that hung up early, and so has no address, causes no internal error', async (t) => {
  const { app } = await startApi(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  // Before Fastify hears of the request.
  app.server.prependListener('request', ({ socket }: IncomingMessage) => {
    socket.destroy()
  })
  const caller = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  caller.on('error', () => {})
  const answered = once(app.server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  caller.end(`GET ${rules} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  const [, response] = await answered
  while (!response.writableEnded) await new Promise((resolve) => setImmediate(resolve))
  t.equal(response.statusCode, 401)
})
