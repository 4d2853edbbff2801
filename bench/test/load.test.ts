import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startLoad } from '../src/load/load.js'

type Test = Pick<typeof t, 'teardown'>

/** A server that answers as the test says. */
async function serve(t: Test, answer: (response: ServerResponse, path: string) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(response, request.url ?? ''))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const requests = ['/a', '/b', '/c'].map((path) => ({ path, headers: {}, payload: '{}' }))

t.test(
  'an open loop measures the waits behind a stall from the moment at which requests were due',
  async (t) => {
    const held: ServerResponse[] = []
    const calls = 20
    const origin = await serve(t, (response) => {
      held.push(response)
      if (held.length === calls) for (const each of held) each.end()
    })
    const load = startLoad({ origins: [origin], requests, expectedStatus: 200, connections: calls })
    t.teardown(() => load.stop())
    const { waits, failures, isOverrun } = await load.runOpen(calls / 100, 100)
    t.same([waits.count, failures, isOverrun], [calls, 0, false])
    // The last call is due after 190 ms, and the first has waited since 0.
    t.ok(waits.maxMs >= 190, `${waits.maxMs} ms`)
    t.ok(waits.p50Ms >= 90, `${waits.p50Ms} ms`)
  },
)

t.test('an open loop counts unexpected responses, and sends all requests in turn', async (t) => {
  const paths: string[] = []
  const origin = await serve(t, (response, path) => {
    paths.push(path)
    response.statusCode = path === '/b' ? 503 : 200
    response.end('busy')
  })
  const load = startLoad({ origins: [origin], requests, expectedStatus: 200, connections: 2 })
  t.teardown(() => load.stop())
  const { requests: answered, failures, firstFailure } = await load.runOpen(0.3, 100)
  t.equal(paths.length, 30)
  t.same([answered, failures], [20, 10])
  t.match(firstFailure, 'Answered 503: busy')
  t.same([...new Set(paths)].toSorted(), ['/a', '/b', '/c'])
})

t.test('an unexpected response ends a closed loop with an error', async (t) => {
  const origin = await serve(t, (response) => {
    response.statusCode = 500
    response.end()
  })
  const load = startLoad({ origins: [origin], requests, expectedStatus: 200, connections: 2 })
  t.teardown(() => load.stop())
  await t.rejects(load.run(1), { message: /The load generator has ended/ })
})
