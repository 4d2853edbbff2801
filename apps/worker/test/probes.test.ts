import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { firstIdOf, newId, openPatiently } from '@automation/database'
import { createOldestDue } from '@automation/ledger'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { openProbes, type Readiness } from '../src/probes.js'
import { createHarness } from './fixtures/harness.js'

/** The probes of a worker with its own harness, and the worker's state. */
async function openProbed(t: Test, urls: { database?: string; redis?: string } = {}) {
  const harness = await createHarness(t)
  const database = urls.database === undefined ? harness.database : openPatiently(urls.database, 1)
  const redis = new Redis(urls.redis ?? process.env.REDIS_URL ?? '', {
    enableOfflineQueue: urls.redis === undefined,
    maxRetriesPerRequest: 1,
  })
  redis.on('error', () => {})
  const state: { idleMs: number; isWaiting: boolean; clock: Readiness['clock'] } = {
    ...{ idleMs: Number.POSITIVE_INFINITY, isWaiting: true, clock: 'ok' },
  }
  const server = openProbes(createOldestDue(database), () => ({
    redis,
    idleMs: () => state.idleMs,
    hasWaitingJobs: async () => state.isWaiting,
    clock: () => state.clock,
  }))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(async () => {
    server.close()
    redis.disconnect()
    if (database !== harness.database) await database.close()
  })
  const { port } = server.address() as AddressInfo
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, body: await response.json() }
  }
  return {
    harness,
    state,
    ask,
    untilReady: async () => {
      while ((await ask('/readyz')).status !== 200) await setTimeout(50)
    },
    untilUnready: async () => {
      while ((await ask('/readyz')).status !== 503) await setTimeout(50)
    },
  }
}

const longAgo = new Date(Date.now() - 60_000)

t.test('a worker is ready when its servers are there and nothing is left lying', async (t) => {
  const { ask, harness } = await openProbed(t)
  await harness.own.event.create({ data: harness.newRow() })
  t.match(await ask('/healthz'), { status: 200, body: { status: 'ok' } })
  t.strictSame(await ask('/readyz'), {
    status: 200,
    body: { status: 'ready', postgres: 'ok', redis: 'ok', progress: 'ok', clock: 'ok' },
  })
  t.match(await ask('/else'), { status: 404 })
})

t.test(
  'a worker that is idle before an event that is long due is stuck, and one that works is not',
  async (t) => {
    const { ask, untilReady, untilUnready, harness, state } = await openProbed(t)
    const event = { ...harness.newRow(), id: firstIdOf(longAgo.getTime()), acceptedAt: longAgo }
    await harness.own.event.create({ data: event })
    t.match(await ask('/readyz'), { status: 503, body: { status: 'unready', progress: 'stuck' } })
    state.idleMs = 0
    await untilReady()
    state.idleMs = 31_000
    await untilUnready()
    await harness.own.event.update({ where: { id: event.id }, data: { doneAt: new Date() } })
    await untilReady()
  },
)

t.test('a worker is not ready where other workers say that its clock is the wrong one', async (t) => {
  const { ask, untilReady, untilUnready, state } = await openProbed(t)
  state.clock = 'differs'
  t.match(await ask('/readyz'), { status: 200, body: { clock: 'differs' } })
  state.clock = 'outvoted'
  await untilUnready()
  state.clock = 'ok'
  await untilReady()
})

t.test('an event that is tried again and again makes no worker unready', async (t) => {
  const { ask, untilReady, untilUnready, harness, state } = await openProbed(t)
  const event = { ...harness.newRow(), id: firstIdOf(longAgo.getTime() - 1), acceptedAt: longAgo }
  await harness.own.event.create({ data: event })
  state.isWaiting = false
  t.match(await ask('/readyz'), { status: 200 }, 'another worker has its job')
  state.isWaiting = true
  await untilUnready()
  state.idleMs = 2_000
  await untilReady()
  t.match(await ask('/readyz'), { body: { progress: 'ok' } }, 'this worker has had it')
  await harness.own.event.update({ where: { id: event.id }, data: { doneAt: new Date() } })
})

t.test('an idle worker with an overdue execution is stuck', async (t) => {
  const { ask, untilReady, harness } = await openProbed(t)
  const run = { eventType: 'LEAD_CREATED', ruleVersion: 1, status: 'waiting', results: [] } as const
  const ids = { id: newId(), workspaceId: harness.workspaceId, eventId: newId(), handlerId: newId() }
  await harness.own.execution.create({ data: { ...ids, ...run, startedAt: longAgo, dueAt: longAgo } })
  t.match(await ask('/readyz'), { status: 503, body: { progress: 'stuck' } })
  await harness.own.execution.update({
    where: { id: ids.id },
    data: { dueAt: new Date(Date.now() + 60_000) },
  })
  await untilReady()
})

t.test('a worker without Postgres or Redis is not ready, but alive', async (t) => {
  const { ask } = await openProbed(t, {
    database: 'postgresql://nobody@127.0.0.1:1/none',
    redis: 'redis://127.0.0.1:1',
  })
  t.match(await ask('/healthz'), { status: 200 })
  t.match(await ask('/readyz'), {
    status: 503,
    body: { status: 'unready', postgres: 'away', redis: 'away', progress: 'unknown' },
  })
})

t.test('a worker whose Postgres takes no writes is not ready, and says so', async (t) => {
  const { database } = await createHarness(t)
  const refused = database.system.$transaction(async (transaction) => {
    await transaction.$executeRaw`SET TRANSACTION READ ONLY`
    await transaction.$executeRaw`CREATE TABLE never ()`
  })
  const redis = { ping: async () => 'PONG' } as unknown as Redis
  const server = openProbes(
    () => refused.then(() => 0),
    () => ({ redis, idleMs: () => 0, hasWaitingJobs: async () => false, clock: () => 'ok' }),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  t.equal(response.status, 503)
  t.match(await response.json(), { status: 'unready', postgres: 'read_only', progress: 'unknown' })
})

t.test('however many ask for it, readiness is looked up once at a time and kept for a second', async (t) => {
  let [lookups, underWay, most] = [0, 0, 0]
  const findOldestDueSeconds = async () => {
    lookups += 1
    underWay += 1
    most = Math.max(most, underWay)
    await setTimeout(20)
    underWay -= 1
    return 0
  }
  const redis = { ping: async () => 'PONG' } as unknown as Redis
  const server = openProbes(findOldestDueSeconds, () => ({
    redis,
    idleMs: () => 0,
    hasWaitingJobs: async () => false,
    clock: () => 'ok',
  }))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const since = performance.now()
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 20 }, () => fetch(`http://127.0.0.1:${port}/readyz`)))
  t.equal(most, 1)
  t.ok(lookups <= 1 + (performance.now() - since) / 1_000, `${lookups} lookups for 100 requests`)
})
