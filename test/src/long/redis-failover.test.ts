import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory, startRedis } from '@automation/launcher'
import { Redis } from 'ioredis'
import t from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'
import { openTcpProxy } from '../storm/tcp-proxy.js'

// Two servers behind one address, as a managed Redis has it. A planned failover closes no connection.
const running = await startRunningProduct({ apis: 0, workers: 0 })
const { product, call } = running
const own = running.database.forWorkspace(running.workspaceId)
t.teardown(() => running.stop())
const directory = await makeTemporaryDirectory()
t.teardown(() => directory.remove())
const second = await startRedis({ directory: directory.path, persistent: false })
t.teardown(() => second.stop())
const [a, b] = await Promise.all([openServer(product.redisUrl), openServer(second.url)])
let primary = a
const line = await openTcpProxy(() => primary.port)
t.teardown(() => line.close())

const url = new URL(product.redisUrl)
url.port = String(line.port)
await product.startWorker({ REDIS_URL: url.href, LOG_LEVEL: 'info' })
await product.startApi({ REDIS_URL: url.href })
const path = '/api/automation-rules/trigger/LEAD_CREATED'

interface RedisServer {
  port: number
  admin: Redis
}

/** Both have the password of the first, since clients know one. */
async function openServer(serverUrl: string): Promise<RedisServer> {
  const admin = new Redis(serverUrl)
  t.teardown(() => admin.disconnect())
  const { password } = new URL(product.redisUrl)
  await admin.config('SET', 'requirepass', password)
  await admin.config('SET', 'masterauth', password)
  return { port: Number(new URL(serverUrl).port), admin }
}

/** Makes one server the replica of the other, and waits until it has its data. */
async function follow(replica: RedisServer, leader: RedisServer): Promise<void> {
  await replica.admin.replicaof('127.0.0.1', leader.port)
  await until(async () => (await replica.admin.info('replication')).includes('master_link_status:up'))
}

/** @returns how long (ms) until an event that is posted now is done */
async function measureEvent(limitMs: number): Promise<number> {
  const start = Date.now()
  const { body } = await call('POST', path, { data: {} }, { prefer: 'respond-async' })
  const isDone = async () => (await own.event.findUniqueOrThrow({ where: { id: body.id } })).doneAt !== null
  await until(async () => Date.now() > start + limitMs || (await isDone()))
  return (await isDone()) ? Date.now() - start : Number.POSITIVE_INFINITY
}

/** Whether an outcome comes by a reply: without one the API looks for it after 2 s. */
async function isReplied(): Promise<boolean> {
  const start = Date.now()
  const { status } = await call('POST', path, { data: {} })
  return status === 200 && Date.now() - start < 1_800
}

async function isRepliedWithin(limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs
  let isBack = false
  await until(async () => {
    isBack = await isReplied()
    return isBack || Date.now() > deadline
  })
  return isBack
}

t.test('jobs run again within seconds after a failover that closes no connection', async (t) => {
  await until(isReplied)
  await follow(b, a)
  await b.admin.replicaof('NO', 'ONE')
  primary = b
  await follow(a, b)
  const ms = await measureEvent(20_000)
  t.ok(ms < 10_000, `done after ${ms} ms`)
  // What subscribes and publishes gets no error of a replica. It must not stay with one that loses its leader.
  await a.admin.replicaof('127.0.0.1', 1)
  t.ok(await isRepliedWithin(20_000), 'and callers get replies')
})

t.test('the same if the address leads to the new primary later', async (t) => {
  await follow(a, b)
  await a.admin.replicaof('NO', 'ONE')
  await follow(b, a)
  const before = line.accepted()
  const waiting = measureEvent(40_000)
  await delay(8_000)
  t.ok(line.accepted() - before < 200, `${line.accepted() - before} connections to a replica are no storm`)
  primary = a
  const ms = await waiting
  t.ok(ms < 8_000 + 10_000, `done after ${ms} ms`)
  await b.admin.replicaof('127.0.0.1', 1)
  t.ok(await isRepliedWithin(20_000), 'and callers get replies')
})
