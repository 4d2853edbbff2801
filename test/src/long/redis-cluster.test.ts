import { makeTemporaryDirectory } from '@automation/launcher'
import t from 'tap'
import { RedisCluster } from '../disasters/servers/redis-cluster.js'
import { startRunningProduct, until } from '../fixtures/product.js'

const directory = await makeTemporaryDirectory()
t.teardown(() => directory.remove())
const cluster = await RedisCluster.open(directory.path)
t.teardown(() => cluster.stop())
const running = await startRunningProduct({ redisUrl: cluster.url })
t.teardown(() => running.stop())
const { product, call } = running
const own = running.database.forWorkspace(running.workspaceId)

/** Whether an outcome comes by a reply: without one the API looks for it after 2 s. */
async function isReplied(): Promise<boolean> {
  const start = Date.now()
  const { status } = await call('POST', '/api/automation-rules/trigger/LEAD_CREATED', { data: {} })
  return status === 200 && Date.now() - start < 1_800
}

async function isWorkerReady(): Promise<boolean> {
  const [worker] = product.workers
  const response = await fetch(`http://127.0.0.1:${worker?.port}/readyz`)
  return response.status === 200
}

async function readRedisState(): Promise<unknown> {
  const { body } = await call('GET', '/readyz')
  return body.redis
}

t.test('API and worker work with a cluster, whose first node does not serve the queue', async (t) => {
  await until(isReplied)
  t.ok(await isWorkerReady())
  t.equal(await readRedisState(), 'ok')
})

t.test('the board looks at the queue of a cluster', async (t) => {
  const board = await product.startBoard({ BOARD_PASSWORD: 'of-enough-length' })
  const authorization = `Basic ${btoa('operator:of-enough-length')}`
  const response = await fetch(`${board.baseUrl}/api/queues`, { headers: { authorization } })
  t.equal(response.status, 200)
  t.match(await response.json(), { queues: [{ name: 'automation' }] })
})

t.test('when the slot of the queue moves to another primary, API and worker follow', async (t) => {
  const before = await cluster.findPrimary()
  await cluster.moveSlot()
  t.not((await cluster.findPrimary()).port, before.port)
  await until(isReplied)
  t.ok(await isWorkerReady())
  t.equal(await readRedisState(), 'ok')
})

t.test('what is accepted while the slot moves is done when it has moved', async (t) => {
  const finish = await cluster.beginMove()
  const path = '/api/automation-rules/trigger/LEAD_CREATED'
  for (let count = 0; count < 20; count++) {
    const { status } = await call('POST', path, { data: {} }, { prefer: 'respond-async' })
    t.equal(status, 202)
  }
  t.ok((await own.event.count({ where: { doneAt: null } })) > 0, 'the queue is unavailable')
  await finish()
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  await until(isReplied)
})

t.test('when the primary of the slot ends, API and worker follow its replica', async (t) => {
  await cluster.killPrimary()
  await until(isReplied)
  await until(isWorkerReady)
  await until(async () => (await readRedisState()) === 'ok')
  t.pass()
})
