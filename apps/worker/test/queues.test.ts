import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import { openQueue, prefixOf, queueName } from '@automation/queue'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createAdmission } from '../src/admission.js'
import { JobConsumers } from '../src/running/job-consumers.js'
import { JobRunner } from '../src/running/job-runner.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, type Harness, log, onOwnDatabase, testConfig } from './fixtures/harness.js'

const queues = 4
const announcedMs = 30_000

/** Ids of workspaces, as many in each of the queues. */
async function addWorkspaces({ database }: Harness, each: number): Promise<string[]> {
  const byQueue: string[][] = Array.from({ length: queues }, () => [])
  while (byQueue.some(({ length }) => length < each)) {
    const id = newId()
    const ids = byQueue[placeOf(id)] as string[]
    if (ids.length < each) ids.push(id)
  }
  const ids = byQueue.flat()
  await database.system.workspace.createMany({ data: ids.map((id) => ({ id, name: 'Test' })) })
  return ids
}

/** As the product does it: this test would fail if a workspace changed its queue from one version to the next. */
function placeOf(workspaceId: string): number {
  return Number.parseInt(workspaceId.slice(-8), 16) % queues
}

function newEvents(harness: Harness, workspaceIds: string[]) {
  return workspaceIds.map((workspaceId) => ({ ...harness.newEvent(), workspaceId }))
}

async function accept(harness: Harness, events: ReturnType<typeof newEvents>): Promise<void> {
  await Promise.all(events.map((event) => harness.inbox.accept(event)))
  await harness.inbox.close()
}

async function untilAllDone({ database }: Harness, events: { id: string }[]): Promise<void> {
  const id = { in: events.map((event) => event.id) }
  while ((await database.system.event.count({ where: { id, doneAt: null } })) > 0) await setTimeout(20)
}

/** The queues of a prefix, past the product. */
function openQueues(t: Test, prefix: string): Queue[] {
  const connection = new Redis(process.env.REDIS_URL ?? '', { maxRetriesPerRequest: null })
  const opened = Array.from(
    { length: queues },
    (_, index) => new Queue(queueName, { connection, prefix: prefixOf(prefix, index) }),
  )
  t.teardown(async () => {
    for (const queue of opened) await queue.close()
    connection.disconnect()
  })
  return opened
}

const countWaiting = (opened: Queue[]) => Promise.all(opened.map((queue) => queue.getWaitingCount()))

t.test('events are spread over all queues by workspace, and a worker reads each of them', async (t) => {
  const { queuePrefix: QUEUE_PREFIX } = testConfig()
  const harness = await createHarness(t, { QUEUE_PREFIX, QUEUES: `${queues}` })
  const opened = openQueues(t, QUEUE_PREFIX)
  const events = newEvents(harness, await addWorkspaces(harness, 5))
  await accept(harness, events)
  for (const [index, queue] of opened.entries()) {
    const jobs = await queue.getWaiting()
    const pointers: { workspaceId: string }[] = jobs.flatMap(({ data }) => data.events)
    t.equal(pointers.length, 5)
    t.ok(pointers.every(({ workspaceId }) => placeOf(workspaceId) === index))
  }
  t.match(await harness.queue.countJobs(), { waiting: (await countWaiting(opened)).reduce((a, b) => a + b) })
  t.ok(await harness.queue.hasWaitingJobs())
  harness.startWorker()
  await untilAllDone(harness, events)
})

t.test('a worker of one queue reads those of an API that has more, whichever starts first', async (t) => {
  const { queuePrefix: QUEUE_PREFIX } = testConfig()
  const one = await createHarness(t, { QUEUE_PREFIX })
  one.startWorker()
  const four = await createHarness(t, { QUEUE_PREFIX, QUEUES: `${queues}` })
  const first = newEvents(four, await addWorkspaces(four, 2))
  await accept(four, first)
  await untilAllDone(four, first)

  const late = await createHarness(t, { QUEUE_PREFIX })
  late.startWorker()
  const second = newEvents(four, await addWorkspaces(four, 2))
  await accept(four, second)
  await untilAllDone(four, second)
})

t.test('what a process left in its queues when it was killed is done by workers of one queue', async (t) => {
  const { queuePrefix: QUEUE_PREFIX, redisUrl } = testConfig()
  const killed = await createHarness(t, { QUEUE_PREFIX, QUEUES: `${queues}` })
  const events = newEvents(killed, await addWorkspaces(killed, 2))
  await accept(killed, events)
  await killed.queue.close()
  const redis = new Redis(redisUrl)
  t.teardown(() => redis.disconnect())
  // Its last word was longer ago than any lease.
  await redis.zadd(`${QUEUE_PREFIX}:queues`, String(Date.now() - 10 * announcedMs), String(queues))
  const harness = await createHarness(t, { QUEUE_PREFIX })
  harness.startWorker()
  await untilAllDone(killed, events)
})

t.test(
  'a sweep after a change of the number adds no job that is queued, and each that is lost',
  async (t) => {
    const { queuePrefix: QUEUE_PREFIX } = testConfig()
    const opened = openQueues(t, QUEUE_PREFIX)
    const one = await createHarness(t, { QUEUE_PREFIX })
    const events = newEvents(one, await addWorkspaces(one, 3))
    await accept(one, events)
    const before = await countWaiting(opened)
    t.same(before.slice(1), [0, 0, 0])
    const four = await createHarness(t, { QUEUE_PREFIX, QUEUES: `${queues}` })
    const rows = await four.database.system.event.findMany({
      where: { id: { in: events.map(({ id }) => id) } },
    })
    const restore = (harness: Harness) => {
      const jobIds = [...new Set(rows.map(({ id, jobId }) => jobId ?? id))]
      const eventsOf = (job: string) => rows.filter(({ id, jobId }) => (jobId ?? id) === job)
      const pointersOf = (job: string) => eventsOf(job).map((row) => ({ ...row, addressee: null }))
      return Promise.all(jobIds.map((job) => harness.queue.restore(job, pointersOf(job))))
    }
    t.notOk((await restore(four)).some(Boolean), 'they are queued where the other process has put them')
    t.same(await countWaiting(opened), before)

    await four.forget()
    t.ok((await restore(four)).every(Boolean))
    const spread = await countWaiting(opened)
    t.ok(
      spread.every((count) => count > 0),
      'each event in the queue of its workspace',
    )
    t.notOk((await restore(four)).some(Boolean))
    t.notOk((await restore(one)).some(Boolean), 'nor does a process of one queue add them again')
    t.same(await countWaiting(opened), spread)
    four.startWorker()
    await untilAllDone(four, events)
  },
)

t.test('all jobs that Redis loses are restored, in each queue', async (t) => {
  const own = await onOwnDatabase()
  const harness = await createHarness(t, { ...own, QUEUES: `${queues}` })
  const events = newEvents(harness, await addWorkspaces(harness, 3))
  await accept(harness, events)
  await harness.forget()
  harness.startWorker()
  harness.startSweeper()
  await untilAllDone(harness, events)
})

t.test('a worker runs as many jobs at a time as it may, of all queues together', async (t) => {
  const config = testConfig({ QUEUES: `${queues}` })
  const places = 2
  const queue = openQueue(config.redisUrl, config.queuePrefix, queues)
  t.teardown(() => queue.close())
  await queue.isReady(5_000)
  let active = 0
  let most = 0
  const waiting: (() => void)[] = []
  const runAll = async () => {
    most = Math.max(most, ++active)
    await new Promise<void>((resolve) => waiting.push(resolve))
    active--
  }
  const metrics = createWorkerMetrics(openMetrics())
  const parts = { admission: createAdmission(1), metrics, concurrency: places, tracing: undefined }
  const jobs = new JobRunner({
    ...parts,
    events: { runAll } as never,
    claims: {} as never,
    executor: {} as never,
    intake: { take: (_job, _token, run) => run() },
  })
  const consumers = new JobConsumers({ ...config, concurrency: places, jobs, metrics, log })
  t.teardown(() => consumers.close())
  consumers.read(queue.inUse)
  const byQueue = Array.from({ length: queues }, () => [] as string[])
  while (byQueue.some(({ length }) => length < 3)) {
    const id = newId()
    byQueue[placeOf(id)]?.push(id)
  }
  const ids = byQueue.flatMap((of) => of.slice(0, 3))
  for (const workspaceId of ids) await queue.addCaused([{ id: newId(), workspaceId, addressee: null }])
  let ended = 0
  while (ended < ids.length) {
    while (waiting.length < Math.min(places, ids.length - ended)) await setTimeout(10)
    waiting.shift()?.()
    ended++
  }
  t.equal(most, places)
})

t.test('a queue that is added while the operator has paused the others is paused, too', async (t) => {
  const config = testConfig()
  const opened = openQueues(t, config.queuePrefix)
  const one = openQueue(config.redisUrl, config.queuePrefix)
  t.teardown(() => one.close())
  t.ok(await one.isReady(5_000))
  await opened[0]?.pause()
  const four = openQueue(config.redisUrl, config.queuePrefix, queues)
  t.teardown(() => four.close())
  t.ok(await four.isReady(5_000))
  t.same(await Promise.all(opened.map((queue) => queue.isPaused())), [true, true, true, true])
})
