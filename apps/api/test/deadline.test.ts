import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { databaseLimitsOf } from '@automation/database'
import t from 'tap'
import { buildApp } from '../src/app.js'
import { configOf, rules, startApi } from './fixtures/api.js'

const trigger = `${rules}/trigger/LEAD_CREATED`

t.test('a request without a response within 12 s is refused with 503', async (t) => {
  const app = await buildApp(configOf())
  t.teardown(() => app.close())
  let finish = () => {}
  const isFinished = new Promise<void>((resolve) => {
    finish = resolve
  })
  app.get('/slow', {
    handler: async () => {
      await isFinished
      return { status: 'late' }
    },
  })
  const begin = performance.now()
  const [slow, quick] = await Promise.all([app.inject('/slow'), app.inject('/healthz')])
  const seconds = (performance.now() - begin) / 1_000
  t.strictSame(
    { status: slow.statusCode, retryAfter: slow.headers['retry-after'], body: slow.json() },
    { status: 503, retryAfter: '1', body: { error: 'Service temporarily unavailable' } },
  )
  t.ok(seconds >= 12, `after ${seconds} s`)
  t.equal(quick.statusCode, 200)
  finish()
  t.equal((await app.inject('/slow')).statusCode, 200, 'and what comes of it later harms nobody')
})

t.test('the API waits for an accepted event as long as its caller requests', async (t) => {
  const api = await startApi(t, {}, { database: databaseLimitsOf(5) })
  const { call } = await api.makeWorkspace()
  const ask = (headers: Record<string, string>) =>
    call('POST', trigger, { body: { data: {} }, headers: { prefer: 'wait=14', ...headers } })
  const begin = performance.now()
  const answers = await Promise.all([ask({}), ask({ 'idempotency-key': 'k' })])
  const seconds = (performance.now() - begin) / 1_000
  for (const { status, headers } of answers)
    t.match({ status, headers }, { status: 202, headers: { 'preference-applied': 'wait=14' } })
  t.ok(seconds >= 14, `after ${seconds} s`)
})

t.test('a process that stood still lets nobody in by what it had read before', async (t) => {
  const { app, makeWorkspace } = await startApi(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { id, tokens } = await makeWorkspace()
  const post = async () => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    await once(socket, 'connect')
    return {
      send: () =>
        socket.write(
          `POST /api/events HTTP/1.1\r\nhost: api\r\nauthorization: Bearer ${tokens.admin}\r\nx-workspace-id: ${id}\r\nprefer: respond-async\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 38\r\n\r\n{"eventType":"LEAD_CREATED","data":{}}`,
        ),
      answered: once(socket, 'data').then(([bytes]) => String(bytes)),
    }
  }
  const [before, after] = [await post(), await post()]
  const { run } = app.database
  app.database.run = async (name, ...statement) => {
    const rows = await run(name, ...statement)
    if (name !== 'find_membership' || app.database.run === run) return rows as never
    app.database.run = run
    await app.database.system.workspace.update({
      where: { id },
      data: { closedAt: new Date(), moving: `to ${id}`, hasParked: true },
    })
    after.send()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
    return rows as never
  }
  before.send()
  t.match(await after.answered, /^HTTP\/1\.1 503 [\s\S]*x-error-code: unavailable/)
  await before.answered
})
