import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { newId } from '@automation/database'
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

t.test('a caller that hangs up within a body is no fault of the service', async (t) => {
  const { app, makeWorkspace } = await startApi(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { id, tokens } = await makeWorkspace()
  const caller = `authorization: Bearer ${tokens.admin}\r\nx-workspace-id: ${id}\r\n`
  for (const [path, type] of [
    [rules, `${caller}content-type: application/json`],
    [`/decide/${newId()}/${newId()}/x/approve`, 'content-type: application/x-www-form-urlencoded'],
  ] as const) {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    const answered = once(app.server, 'request') as Promise<[IncomingMessage, ServerResponse]>
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${type}\r\ncontent-length: 5000\r\n\r\nhalf`)
    const [request, response] = await answered
    while (request.listenerCount('data') === 0) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    while (!response.writableEnded) await new Promise((resolve) => setImmediate(resolve))
    t.equal(response.statusCode, 400, path)
  }
})
