import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate, setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { buildApp } from '../src/app.js'
import { configOf } from './fixtures/api.js'

/** An API that listens, with a route `/slow` that asks Postgres when it is let go. */
async function openSlow(t: Test) {
  const app = await buildApp(configOf())
  const [begun, released, outcome] = [promise<void>(), promise<void>(), promise<string>()]
  app.get('/slow', {
    config: { isOpen: true },
    handler: async () => {
      begun.resolve()
      await released.promise
      const asked = await app.database.system.$queryRaw`SELECT 1`.then(
        () => 'answered',
        (error: Error) => error.message,
      )
      outcome.resolve(asked)
      return { asked }
    },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  await app.waitForRedis()
  t.teardown(() => {
    released.resolve()
    return app.close()
  })
  const { port } = app.server.address() as AddressInfo
  return { app, port, begun: begun.promise, release: released.resolve, outcome: outcome.promise }
}

function promise<Value>() {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

t.test('a closing API reports that it ends, and serves until then', async (t) => {
  const { app, port } = await openSlow(t)
  const url = `http://127.0.0.1:${port}`
  t.match(await (await fetch(`${url}/readyz`)).json(), { status: 'ready' })
  const drained = app.drain(1)
  const ready = await fetch(`${url}/readyz`)
  t.equal(ready.status, 503)
  t.match(await ready.json(), { status: 'ending', postgres: 'ok', redis: 'ok', migrations: 'ok' })
  t.equal(ready.headers.get('connection'), 'close', 'and asks for other connections')
  t.equal((await fetch(`${url}/api/tasks`)).status, 401)
  t.equal((await fetch(`${url}/healthz`)).status, 200)
  await drained
  await app.close()
  await t.rejects(fetch(`${url}/healthz`))
})

t.test('a request whose caller hung up is finished before Postgres is disconnected', async (t) => {
  const { app, port, begun, release, outcome } = await openSlow(t)
  const caller = connect(port, '127.0.0.1')
  ask(caller, '/slow')
  await begun
  caller.destroy()
  while ((await countConnections(app.server)) > 0) await setImmediate()
  const closed = app.close()
  // By then it would be far too late, if it did not wait.
  for (let turn = 0; turn < 100 && app.redis.status !== 'end'; turn++) await setTimeout(2)
  release()
  t.equal(await outcome, 'answered')
  await closed
})

t.test('a request on an existing connection gets its normal response', async (t) => {
  const { app, port, begun, release } = await openSlow(t)
  const [busy, fresh] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  ask(busy, '/slow')
  await begun
  while ((await countConnections(app.server)) < 2) await setImmediate()
  const closed = app.close()
  while (!app.isEnding()) await setImmediate()
  ask(fresh, '/healthz')
  t.match(await text(fresh), /200 OK.*connection: close.*"status":"ok"/is)
  release()
  t.match(await text(busy), /200 OK.*connection: close.*"asked":"answered"/is)
  await closed
})

function ask(socket: Socket, path: string): void {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
