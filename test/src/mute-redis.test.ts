import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { type Answer, startRunningProduct, until } from './fixtures/product.js'
import { openTcpProxy } from './storm/tcp-proxy.js'

const running = await startRunningProduct({ apis: 0, workers: 0 })
const { product, call } = running
const own = running.database.forWorkspace(running.workspaceId)
t.teardown(() => running.stop())
const line = await openTcpProxy(() => product.redis?.port ?? 0)
t.teardown(() => line.close())
const url = new URL(product.redisUrl)
url.port = String(line.port)
await product.startWorker({ REDIS_URL: url.href })
await product.startApi()

async function post(): Promise<string> {
  const path = '/api/automation-rules/trigger/LEAD_CREATED'
  const { status, body }: Answer = await call('POST', path, { data: {} }, { prefer: 'respond-async' })
  if (status !== 202) throw new Error(`${status}`)
  return body.id
}

async function isDone(id: string): Promise<boolean> {
  return (await own.event.findUniqueOrThrow({ where: { id } })).doneAt !== null
}

/** @returns whether it was within the time (ms) */
async function isDoneWithin(id: string, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs
  await until(async () => Date.now() > deadline || (await isDone(id)))
  return isDone(id)
}

t.test('a worker whose lines to Redis go mute for good takes jobs again on new ones', async (t) => {
  t.ok(await isDoneWithin(await post(), 10_000), 'on good lines')
  line.muteForGood()
  const start = Date.now()
  t.ok(await isDoneWithin(await post(), 60_000), 'on lines that it has opened since')
  t.comment(`done after ${Date.now() - start} ms`)
})

t.test('a worker that has nothing to do keeps its lines', async (t) => {
  const before = line.accepted()
  // Longer than a call may wait for its response.
  await delay(20_000)
  t.equal(line.accepted(), before)
  t.ok(await isDoneWithin(await post(), 10_000))
})
