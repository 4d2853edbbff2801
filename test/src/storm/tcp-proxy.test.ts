import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { openTcpProxy } from './tcp-proxy.js'

/** An echo behind a proxy, and a connection to it. */
async function openLine(t: Test) {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await openTcpProxy(() => (server.address() as AddressInfo).port)
  const caller = connect(proxy.port, '127.0.0.1')
  t.teardown(async () => {
    caller.destroy()
    await proxy.close()
    server.close()
  })
  await once(caller, 'connect')
  return { proxy, caller, server }
}

async function hear(caller: Socket, length: number): Promise<string> {
  let heard = ''
  while (heard.length < length) heard += (await once(caller, 'data'))[0]
  return heard
}

t.test('a good line passes all on, in both directions, and its end', async (t) => {
  const { caller } = await openLine(t)
  caller.write('one')
  t.equal(await hear(caller, 3), 'one')
  caller.end()
  await once(caller, 'close')
})

t.test('a slow line passes all on later, in its order, also when it becomes good meanwhile', async (t) => {
  const { proxy, caller } = await openLine(t)
  proxy.setLatency(50)
  const start = performance.now()
  caller.write('one ')
  await new Promise((resolve) => setImmediate(resolve))
  caller.write('two ')
  const first = await hear(caller, 4)
  t.ok(performance.now() - start >= 98, 'there and back')
  proxy.setLatency(0)
  caller.write('three')
  const rest = first.length < 8 ? await hear(caller, 13 - first.length) : await hear(caller, 5)
  t.equal(first + rest, 'one two three')
})

t.test('a black hole accepts, and passes nothing until it is over', async (t) => {
  const { proxy, caller } = await openLine(t)
  proxy.setBlackHole(true)
  const late = connect(proxy.port, '127.0.0.1')
  t.teardown(() => late.destroy())
  await once(late, 'connect')
  let heard = 0
  caller.on('data', () => {
    heard += 1
  })
  caller.write('one')
  late.write('two')
  const { proxy: other, caller: witness } = await openLine(t)
  other.setLatency(50)
  witness.write('...')
  await hear(witness, 3)
  t.equal(heard, 0, 'while somebody else was heard twice')
  proxy.setBlackHole(false)
  t.equal(await hear(late, 3), 'two')
  t.equal(heard, 1)
})

t.test('a reset ends every connection as an error, and the next one is good', async (t) => {
  const { proxy, caller } = await openLine(t)
  caller.write('one')
  await hear(caller, 3)
  const broken = new Promise<NodeJS.ErrnoException>((resolve) => caller.once('error', resolve))
  t.equal(proxy.reset(), 1)
  t.equal((await broken).code, 'ECONNRESET')
  const next = connect(proxy.port, '127.0.0.1')
  t.teardown(() => next.destroy())
  next.write('one')
  t.equal(await hear(next, 3), 'one')
})

t.test(
  'a connection that is mute for good passes nothing, not even its end, and the next one is good',
  async (t) => {
    const { proxy, caller, server } = await openLine(t)
    caller.write('one')
    await hear(caller, 3)
    proxy.muteForGood()
    let heard = 0
    caller.on('data', () => {
      heard += 1
    })
    caller.write('two')
    const next = connect(proxy.port, '127.0.0.1')
    t.teardown(() => next.destroy())
    next.write('three')
    t.equal(await hear(next, 5), 'three')
    caller.end()
    next.end()
    await once(next, 'close')
    t.equal(heard, 0)
    const left = await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))
    t.equal(left, 1, 'the server has not heard that the caller is gone')
  },
)

t.test('where nobody listens behind it, a connection breaks', async (t) => {
  const proxy = await openTcpProxy(() => 1)
  t.teardown(() => proxy.close())
  const caller = connect(proxy.port, '127.0.0.1')
  const error = await new Promise<NodeJS.ErrnoException>((resolve) => caller.once('error', resolve))
  t.equal(error.code, 'ECONNRESET')
})

t.test(
  'a response that is lost was one: the server has got the text, and the caller sees a reset',
  async (t) => {
    const { proxy, caller, server } = await openLine(t)
    const got: string[] = []
    server.on('connection', (socket: Socket) => socket.on('data', (data) => got.push(String(data))))
    const other = connect(proxy.port, '127.0.0.1')
    t.teardown(() => other.destroy())
    await once(other, 'connect')
    const lost = proxy.loseResponseTo('COMMIT')
    other.write('BEGIN')
    t.equal(await hear(other, 5), 'BEGIN')
    const heard: string[] = []
    other.on('data', (data) => heard.push(String(data)))
    other.write('COMMIT')
    const [error] = await once(other, 'error')
    await lost
    t.equal(error.code, 'ECONNRESET')
    t.strictSame(heard, [])
    t.strictSame(got, ['BEGIN', 'COMMIT'])
    caller.write('COMMIT')
    t.equal(await hear(caller, 6), 'COMMIT', 'the next one passes')
  },
)
