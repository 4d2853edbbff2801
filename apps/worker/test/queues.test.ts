import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import { type EventsJobData, openQueue, prefixOf, queueName } from '@automation/queue'
import { type Job, Queue } from 'bullmq'
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

t.test('a lost job is restored whole, whatever numbers of queues there were', async (t) => {
  const { redisUrl, queuePrefix } = testConfig()
  const [first] = openQueues(t, queuePrefix)
  for (const number of [1, queues]) {
    const other = openQueue(redisUrl, queuePrefix, number)
    t.teardown(() => other.close())
    t.ok(await other.isReady(5_000))
  }
  const two = openQueue(redisUrl, queuePrefix, 2)
  t.teardown(() => two.close())
  t.ok(await two.isReady(5_000))
  // Of two queues both have the first one, and of four only one of them.
  const endings = ['00000000', '00000002']
  const events = endings.map((end) => ({
    id: newId(),
    workspaceId: newId().slice(0, -8) + end,
    addressee: null,
  }))
  t.ok(await two.restore(newId(), events))
  const jobs: Job<EventsJobData>[] = (await first?.getWaiting()) ?? []
  t.same(
    jobs.flatMap(({ data }) => data.events.map(({ id }) => id)).sort(),
    events.map(({ id }) => id).sort(),
  )
})

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

/** A worker whose jobs last until the test ends them. */
function openWorker(t: Test, config: ReturnType<typeof testConfig>, places: number) {
  /** By the workspace of the job. */
  const running: { workspaceId: string; end: () => void }[] = []
  const metrics = createWorkerMetrics(openMetrics())
  const parts = { admission: createAdmission(1), metrics, concurrency: places, tracing: undefined }
  const runAll = ({ events: [event] }: EventsJobData) =>
    new Promise<void>((end) => running.push({ workspaceId: event?.workspaceId ?? '', end }))
  const jobs = new JobRunner({
    ...parts,
    events: { runAll } as never,
    claims: {} as never,
    executor: {} as never,
    intake: { take: (_job, _token, run) => run() },
  })
  const consumers = new JobConsumers({ ...config, concurrency: places, jobs, metrics, log })
  t.teardown(async () => {
    const closed = consumers.close()
    jobs.close()
    for (const { end } of running) end()
    await closed
  })
  consumers.read(queues)
  return {
    running,
    countOf: (index: number) => running.filter(({ workspaceId }) => placeOf(workspaceId) === index).length,
  }
}

async function openQueueOfJobs(t: Test, config: ReturnType<typeof testConfig>) {
  const queue = openQueue(config.redisUrl, config.queuePrefix, queues)
  t.teardown(() => queue.close())
  await queue.isReady(5_000)
  return async (index: number, count: number) => {
    for (let added = 0; added < count; ) {
      const workspaceId = newId()
      if (placeOf(workspaceId) !== index) continue
      await queue.addCaused([{ id: newId(), workspaceId, addressee: null }])
      added++
    }
  }
}

t.test('a worker runs as many jobs at a time as it may, of all queues together', async (t) => {
  const config = testConfig()
  const add = await openQueueOfJobs(t, config)
  const places = 2
  const { running } = openWorker(t, config, places)
  for (let index = 0; index < queues; index++) await add(index, 3)
  let most = 0
  for (let left = 3 * queues; left > 0; left--) {
    while (running.length < Math.min(places, left)) await setTimeout(10)
    most = Math.max(most, running.length)
    running.shift()?.end()
  }
  t.equal(most, places)
})

t.test('a queue with jobs has all places that others leave free', async (t) => {
  const config = testConfig()
  const add = await openQueueOfJobs(t, config)
  const worker = openWorker(t, config, 12)
  for (const index of [1, 2, 3]) await add(index, 1)
  while (worker.running.length < 3) await setTimeout(10)
  await add(0, 20)
  while (worker.running.length < 12) await setTimeout(10)
  t.equal(worker.countOf(0), 9)
})

t.test('a queue that gets jobs while another one has all places has its share when jobs end', async (t) => {
  const config = testConfig()
  const add = await openQueueOfJobs(t, config)
  const [, second] = openQueues(t, config.queuePrefix)
  const { running, countOf } = openWorker(t, config, 8)
  await add(0, 30)
  while (running.length < 8) await setTimeout(10)
  await add(1, 30)
  while ((await second?.getWaitingCount()) !== 26) await setTimeout(10)
  for (let ended = 0; ended < 4; ended++) running.shift()?.end()
  while (running.length < 8) await setTimeout(10)
  t.equal(countOf(1), 4)
})

t.test('while Redis refuses to hand out jobs, a worker asks for one twice a second', async (t) => {
  const config = testConfig()
  const redis = new Redis(config.redisUrl)
  t.teardown(() => redis.disconnect())
  await redis.set(`${config.queuePrefix}:${queueName}:wait`, 'no list')
  const refusedAt: number[] = []
  const warn = () => void refusedAt.push(performance.now())
  const metrics = createWorkerMetrics(openMetrics())
  const jobs = { run: async () => {} }
  const consumers = new JobConsumers({ ...config, jobs, metrics, log: { ...log, warn } as never })
  t.teardown(() => consumers.close())
  consumers.read(1)
  while (refusedAt.length < 3) await setTimeout(10)
  const [first = 0, , third = 0] = refusedAt
  t.ok(third - first > 900, `${third - first} ms`)
})

t.test('a queue that is added is paused if the others are, and only then', async (t) => {
  const config = testConfig()
  const opened = openQueues(t, config.queuePrefix)
  const one = openQueue(config.redisUrl, config.queuePrefix)
  t.teardown(() => one.close())
  t.ok(await one.isReady(5_000))
  await opened[0]?.pause()
  const four = openQueue(config.redisUrl, config.queuePrefix, queues)
  t.teardown(() => four.close())
  t.ok(await four.isReady(5_000))
  const pausedOf = () => Promise.all(opened.map((queue) => queue.isPaused()))
  t.same(await pausedOf(), [true, true, true, true])

  // The board had forgotten the others when somebody resumed the first one.
  await opened[0]?.resume()
  const again = openQueue(config.redisUrl, config.queuePrefix, queues)
  t.teardown(() => again.close())
  t.ok(await again.isReady(5_000))
  t.same(await pausedOf(), [false, false, false, false])
})
