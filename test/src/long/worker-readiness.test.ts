import { firstIdOf } from '@automation/database'
import { Queue } from 'bullmq'
import t from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'

const running = await startRunningProduct()
const { product, database, workspaceId } = running
const own = database.forWorkspace(workspaceId)
t.teardown(() => running.stop())

async function ask(path: string): Promise<{ status: number; body: object }> {
  const response = await fetch(`http://127.0.0.1:${product.workers[0]?.port}${path}`)
  return { status: response.status, body: (await response.json()) as object }
}

async function untilReadyz(status: number): Promise<object> {
  await until(async () => (await ask('/readyz')).status === status)
  return (await ask('/readyz')).body
}

t.test(
  'a worker is not ready while nothing of what is due reaches it, and is again when it does',
  async (t) => {
    await untilReadyz(200)
    const connection = { url: product.redisUrl }
    const queue = new Queue('automation', { prefix: '{automation}', connection })
    t.teardown(() => queue.close())
    await queue.pause()
    const longAgo = new Date(Date.now() - 60_000)
    const id = firstIdOf(longAgo.getTime())
    const event = { id, workspaceId, type: 'LEAD_CREATED', data: {}, acceptedAt: longAgo }
    await own.event.create({ data: event })
    const readiness = { status: 'unready', postgres: 'ok', redis: 'ok', progress: 'stuck', clock: 'ok' }
    t.strictSame(await untilReadyz(503), readiness)
    t.equal((await ask('/healthz')).status, 200)
    await queue.resume()
    // A worker that has it in hand makes progress already.
    t.strictSame(await untilReadyz(200), { ...readiness, status: 'ready', progress: 'ok' })
    await until(async () => (await own.event.findUniqueOrThrow({ where: { id } })).doneAt !== null)
    t.equal((await ask('/readyz')).status, 200, 'and when it is done')
  },
)

t.test('nor is it without Redis, be it gone or mute, and is when it is back', async (t) => {
  product.redis?.kill('SIGSTOP')
  t.match(await untilReadyz(503), { redis: 'away', postgres: 'ok' })
  product.redis?.kill('SIGCONT')
  await untilReadyz(200)
  product.redis?.kill('SIGKILL')
  await product.redis?.exited
  t.match(await untilReadyz(503), { redis: 'away', postgres: 'ok' })
  t.equal((await ask('/healthz')).status, 200)
  await product.restartRedis()
  await untilReadyz(200)
})

t.test('nor without Postgres', async (t) => {
  product.postgres?.kill('SIGKILL')
  await product.postgres?.exited
  t.match(await untilReadyz(503), { redis: 'ok', postgres: 'away', progress: 'unknown' })
  t.equal((await ask('/healthz')).status, 200)
  await product.restartPostgres()
  await untilReadyz(200)
})
